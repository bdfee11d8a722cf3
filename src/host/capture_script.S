/* The script's text as it is. EVENER_CAPTURE_SCRIPT is its path. */
    .section .rodata.evener_capture_script, "a", @progbits
    .global evener_capture_script_begin
    .type evener_capture_script_begin, @object
evener_capture_script_begin:
    .incbin EVENER_CAPTURE_SCRIPT
    .global evener_capture_script_end
    .type evener_capture_script_end, @object
evener_capture_script_end:
    .byte 0
    .size evener_capture_script_begin, evener_capture_script_end - evener_capture_script_begin
    .size evener_capture_script_end, 1
    .section .note.GNU-stack, "", @progbits
