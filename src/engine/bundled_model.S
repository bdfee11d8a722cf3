/* The bundled model's file as it is, read-only. EVENER_BUNDLED_MODEL is its path. */
    .section .rodata.evener_bundled_model, "a", @progbits
    .balign 64
    .global evener_bundled_model_begin
    .type evener_bundled_model_begin, @object
evener_bundled_model_begin:
    .incbin EVENER_BUNDLED_MODEL
    .global evener_bundled_model_end
    .type evener_bundled_model_end, @object
evener_bundled_model_end:
    .byte 0
    .size evener_bundled_model_begin, evener_bundled_model_end - evener_bundled_model_begin
    .size evener_bundled_model_end, 1
    .section .note.GNU-stack, "", @progbits
