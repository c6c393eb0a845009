"""Trying the sign-in to an application: the operators' site acts as the client."""
