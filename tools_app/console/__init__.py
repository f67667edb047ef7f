"""The operators' pages: every view calls one service or selector and renders its answer."""
