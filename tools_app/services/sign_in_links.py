"""One-time sign-in links: how the first admin comes in, and whoever lost a password.

Nothing is stored. A link is signed over the user's password hash and last sign-in, as Django's
password reset does it, so it ends when it is used, when the password changes, and after
``PASSWORD_RESET_TIMEOUT`` seconds.
"""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode


class SignInTokens(PasswordResetTokenGenerator):
    """Tokens that no password reset accepts, and the other way round."""

    key_salt = "tools_app.services.sign_in_links"


tokens = SignInTokens()


def make_sign_in_link(user: User) -> str:
    """Return the path of a link that signs this user in once."""
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return f"/sign-in/once/{uid}/{tokens.make_token(user)}/"


def user_of_link(uid: str, token: str) -> User | None:
    """Return whom a link would sign in, without using it up; ``None`` when it is no good."""
    try:
        pk = int(urlsafe_base64_decode(uid))
    except ValueError:
        return None
    user = get_user_model().objects.filter(pk=pk, is_active=True).first()
    return user if user is not None and tokens.check_token(user, token) else None


def use_link(uid: str, token: str) -> User | None:
    """Use a link up and return whom to sign in; ``None`` when it is no good or was used.

    Of two requests with the same link one wins: the sign-in time moves in one UPDATE that
    names the old one.
    """
    user = user_of_link(uid, token)
    if user is None:
        return None
    unchanged = get_user_model().objects.filter(pk=user.pk, last_login=user.last_login)
    return user if unchanged.update(last_login=timezone.now()) else None
