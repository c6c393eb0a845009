"""What people do to their own account: one module per decision."""
