"""Server-rendered pages for end users. They work without JavaScript."""
