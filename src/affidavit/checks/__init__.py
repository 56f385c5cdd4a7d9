"""The house's checks, one file each: the rule, its healthy example, its sabotages."""
