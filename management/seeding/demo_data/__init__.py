"""People, organizations and a past for a tenant that is shown or tried out: the same for the same seed."""
