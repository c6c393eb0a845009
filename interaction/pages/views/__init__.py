"""The server-rendered front door for end users. Works without JavaScript."""
