"""Hidden checks, one module a lesson. They run on the trusted side and never enter the learner's process."""
