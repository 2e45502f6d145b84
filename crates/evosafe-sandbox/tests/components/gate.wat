;; A harness by hand: no tool chain, no language, the canonical ABI alone.
;;   pre     blocks the tool `pay`, reports a fault of its own for `read`, allows the rest
;;   final   replaces the answer
;;   others  change nothing
(component
  (import "evosafe:harness/types@1.0.0" (instance $types
    (type $tool' (record
      (field "name" string) (field "server" (option string)) (field "description" string)
      (field "input-schema" string) (field "annotations" string)))
    (export "tool" (type $tool (eq $tool')))
    (type $run-context' (record
      (field "trace-id" string) (field "instruction" string) (field "tools" (list $tool))))
    (export "run-context" (type (eq $run-context')))
    (type $tool-call' (record
      (field "id" string) (field "server" (option string)) (field "tool" string)
      (field "arguments" string)))
    (export "tool-call" (type $tool-call (eq $tool-call')))
    (type $tool-result' (record (field "content" string) (field "is-error" bool)))
    (export "tool-result" (type (eq $tool-result')))
    (type $call-decision' (variant
      (case "allow") (case "rewrite" string) (case "redirect" $tool-call) (case "block" string)))
    (export "call-decision" (type (eq $call-decision')))
    (type $text-decision' (variant (case "keep") (case "replace" string) (case "block" string)))
    (export "text-decision" (type (eq $text-decision')))
  ))
  (import "evosafe:harness/host@1.0.0" (instance $host
    (export "log" (func (param "message" string)))
  ))
  (alias export $types "run-context" (type $run-context))
  (alias export $types "tool-call" (type $tool-call))
  (alias export $types "tool-result" (type $tool-result))
  (alias export $types "call-decision" (type $call-decision))
  (alias export $types "text-decision" (type $text-decision))

  ;; Memory with an allocator that forgets everything after each hook.
  (core module $Memory
    (memory (export "memory") 1)
    (global $next (mut i32) (i32.const 4096))
    (func (export "realloc") (param $old i32) (param $had i32) (param $align i32) (param $size i32) (result i32)
      (local $at i32)
      (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
      (global.set $next (i32.add (local.get $at) (local.get $size)))
      (block $fits
        (loop $grow
          (br_if $fits (i32.le_u (global.get $next) (i32.mul (memory.size) (i32.const 65536))))
          (br_if $grow (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))
          unreachable))
      (memory.copy (local.get $at) (local.get $old) (local.get $had))
      (local.get $at))
    (func (export "forget") (global.set $next (i32.const 4096)))
  )
  (core instance $memory (instantiate $Memory))
  (core func $log (canon lower (func $host "log") (memory (core memory $memory "memory"))))

  (core module $Gate
    (import "memory" "memory" (memory 1))
    (import "memory" "forget" (func $forget))
    (import "host" "log" (func $log (param i32 i32)))
    (data (i32.const 1024) "payments need a person")
    (data (i32.const 1100) "evosafe:fault {\22kind\22:\22malformed\22,\22message\22:\22reads are beyond me\22}")
    (data (i32.const 1200) "checked by hand")
    (data (i32.const 1300) "asked about a call")
    ;; The answer goes to 512: for texts and lists pointer and length, for variants the case
    ;; in a byte and its text behind.
    (func $answer (param $case i32) (param $text i32) (param $length i32) (result i32)
      (i32.store (i32.const 512) (local.get $case))
      (i32.store (i32.const 516) (local.get $text))
      (i32.store (i32.const 520) (local.get $length))
      (i32.const 512))
    (func (export "begin") (param i32 i32 i32 i32 i32 i32) (result i32)
      (call $answer (i32.const 0) (i32.const 0) (i32.const 0)))
    (func (export "on-user-message") (param i32 i32))
    (func (export "system-prompt-transform") (param $text i32) (param $length i32) (result i32)
      (i32.store (i32.const 512) (local.get $text))
      (i32.store (i32.const 516) (local.get $length))
      (i32.const 512))
    (func (export "on-pre-tool-call")
      (param i32 i32 i32 i32 i32) (param $tool i32) (param $length i32) (param i32 i32) (result i32)
      (call $log (i32.const 1300) (i32.const 18))
      (if (i32.and
            (i32.eq (local.get $length) (i32.const 3))
            (i32.eq (i32.and (i32.load (local.get $tool)) (i32.const 0xffffff)) (i32.const 0x796170))) ;; pay
        (then (return (call $answer (i32.const 3) (i32.const 1024) (i32.const 22)))))
      (if (i32.and
            (i32.eq (local.get $length) (i32.const 4))
            (i32.eq (i32.load (local.get $tool)) (i32.const 0x64616572))) ;; read
        (then (call $log (i32.const 1100) (i32.const 66))))
      (call $answer (i32.const 0) (i32.const 0) (i32.const 0)))
    (func (export "on-post-tool-call")
      (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
      (call $answer (i32.const 0) (i32.const 0) (i32.const 0)))
    (func (export "on-final-answer") (param i32 i32) (result i32)
      (call $answer (i32.const 1) (i32.const 1200) (i32.const 15)))
    (func (export "done") (param i32) (call $forget))
    (func (export "done-with-nothing") (call $forget))
  )
  (core instance $gate (instantiate $Gate
    (with "memory" (instance $memory))
    (with "host" (instance (export "log" (func $log))))
  ))
  (func (export "begin") (param "ctx" $run-context) (result (list string))
    (canon lift (core func $gate "begin")
      (memory (core memory $memory "memory")) (realloc (core func $memory "realloc")) (post-return (core func $gate "done"))))
  (func (export "on-user-message") (param "text" string)
    (canon lift (core func $gate "on-user-message")
      (memory (core memory $memory "memory")) (realloc (core func $memory "realloc")) (post-return (core func $gate "done-with-nothing"))))
  (func (export "system-prompt-transform") (param "prompt" string) (result string)
    (canon lift (core func $gate "system-prompt-transform")
      (memory (core memory $memory "memory")) (realloc (core func $memory "realloc")) (post-return (core func $gate "done"))))
  (func (export "on-pre-tool-call") (param "call" $tool-call) (result $call-decision)
    (canon lift (core func $gate "on-pre-tool-call")
      (memory (core memory $memory "memory")) (realloc (core func $memory "realloc")) (post-return (core func $gate "done"))))
  (func (export "on-post-tool-call") (param "call" $tool-call) (param "result" $tool-result) (result $text-decision)
    (canon lift (core func $gate "on-post-tool-call")
      (memory (core memory $memory "memory")) (realloc (core func $memory "realloc")) (post-return (core func $gate "done"))))
  (func (export "on-final-answer") (param "text" string) (result $text-decision)
    (canon lift (core func $gate "on-final-answer")
      (memory (core memory $memory "memory")) (realloc (core func $memory "realloc")) (post-return (core func $gate "done"))))
)
