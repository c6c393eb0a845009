"""Reading the users of other systems out of the files that those systems export."""
