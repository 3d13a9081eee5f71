"""What an operator may declare: one strict, typed description per environment."""
