"""Trying the sign-in to an application: the operators' site takes the part of the client."""
