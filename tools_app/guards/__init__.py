"""One guard per way out of the process, shared by every tool: no tool brings its own.

``network`` for HTTP, ``paths`` for files, ``environment`` and ``processes`` for programs,
``secrets`` and ``boundary`` for what text may carry. No web framework, no database.
"""
