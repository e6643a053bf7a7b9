# Environment of sanitized tests. ctest reads this file before it runs any test. Other builds ignore
# these variables.
set(ENV{ASAN_OPTIONS} detect_stack_use_after_return=1:strict_string_checks=1)
set(ENV{TSAN_OPTIONS} halt_on_error=1:second_deadlock_stack=1)
set(ENV{UBSAN_OPTIONS} print_stacktrace=1)
