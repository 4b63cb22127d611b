# [wrong]
# [cured]
