#!/usr/bin/env bash
# marks.sh HEADER...: each public class, each public function, and each struct with a function
# defined elsewhere has ROTA_EXPORT.
set -euo pipefail
awk '
  function complain(what) { print FILENAME ":" FNR ": " what " without ROTA_EXPORT"; ++found }
  /^(template|requires)/ { after_template = 1; next }
  /^class [A-Z][A-Za-z0-9]*( |$)/ && !/;/ && !/ROTA_EXPORT/ { complain("a class") }
  /^struct / { inside = !after_template && !/ROTA_EXPORT/ }
  /^};/ { inside = 0 }
  inside && !/{/ && /^  [^\/=]*[a-z_0-9]\([^={]*\)[ a-z]*;/ { complain("a struct with a function") }
  /^[A-Za-z_].*[a-z_0-9]\(/ && !after_template &&
    !/^(ROTA_EXPORT|constexpr|consteval|inline|extern|concept|struct|class|enum|using|namespace) / {
    complain("a function")
  }
  { after_template = 0 }
  END { exit found > 0 }
' "$@"
