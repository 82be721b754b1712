"""The public checks, one module a lesson: properties, and values on record. The reference is not among them."""
