"""Addresses of the console, at the root of the site."""

from django.urls import path

from tools_app.console.views import frame, freezing, sessions

app_name = "console"

urlpatterns = [
    path("sign-in/", sessions.SignIn.as_view(), name="sign-in"),
    path("sign-in/once/<str:uid>/<str:token>/", sessions.sign_in_once, name="sign-in-once"),
    path("sign-out/", sessions.SignOut.as_view(), name="sign-out"),
    path("set-language/", sessions.set_language, name="set-language"),
    path("preferences/", sessions.set_preferences, name="preferences"),
    path("palette/", frame.palette, name="palette"),
    path("freezes/new/", freezing.freeze_new, name="freeze-new"),
    path("freezes/new/blast/", freezing.freeze_blast, name="freeze-blast"),
    path("frame/", frame.frame_update, name="frame"),
]
