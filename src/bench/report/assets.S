/* Files of web/ as they are; the folder is on the include path. */
    .macro asset name, path
    .global evener_asset_\name\()_begin
    .type evener_asset_\name\()_begin, @object
evener_asset_\name\()_begin:
    .incbin "\path"
    .global evener_asset_\name\()_end
    .type evener_asset_\name\()_end, @object
evener_asset_\name\()_end:
    .byte 0
    .size evener_asset_\name\()_begin, evener_asset_\name\()_end - evener_asset_\name\()_begin
    .size evener_asset_\name\()_end, 1
    .endm

    .section .rodata.evener_assets, "a", @progbits
    asset report_css, "report/report.css"
    asset report_js, "report/report.js"
    asset uplot_css, "vendor/uplot/uPlot.min.css"
    asset uplot_js, "vendor/uplot/uPlot.iife.min.js"
    asset uplot_licence, "vendor/uplot/LICENSE"
    .section .note.GNU-stack, "", @progbits
