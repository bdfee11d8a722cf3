#pragma once

#include "bench/report/word.h"

namespace evener::bench {

inline constexpr Word kWordsOfFaults[] = {
    {"fault.server_down", "server down", "服务连不上"},
    {"fault.refused", "refused by the server", "被服务端拒绝"},
    {"fault.http_error", "HTTP error", "HTTP 错误"},
    {"fault.reset", "connection reset", "连接被重置"},
    {"fault.truncated_stream", "stream cut short", "流被截断"},
    {"fault.error_event", "error inside the stream", "流中报错"},
    {"fault.malformed_event", "malformed event", "事件格式错误"},
    {"fault.timed_out", "timed out", "超时"},
    {"fault.empty_answer", "empty answer", "空回答"},
    {"fault.no_usage", "no token counts from the server", "服务端不给 token 数"},
    {"fault.wrong_usage", "token counts contradict the stream", "token 数与实际不符"},
    {"fault.early_end", "ended before the forced length", "提前结束"},
    {"fault.cached_prompt", "cold prompt came from the cache", "冷启动提示词命中了缓存"},
    {"fault.cold_unproven", "cold not proven", "无法确认未命中缓存"},
    {"fault.merged_events", "several tokens an event", "一个事件含多个 token"},
    {"fault.buffered_stream", "stream held back and sent in bursts", "流被攒批后才发出"},
    {"fault.stall", "stall", "卡顿"},
    {"fault.gaps_unexplained", "gaps do not fit the formula", "停顿与理论不符"},
    {"fault.sender_late", "the client was the bottleneck", "压测端成了瓶颈"},
    {"fault.concurrency_missed", "concurrency not reached", "并发没达到"},
    {"fault.retried", "request sent again", "请求重试过"},
    {"fault.too_few_samples", "too few samples", "样本太少"},
    {"fault.clock_jumped", "clock jumped", "系统时钟跳变"},
    {"fault.clocks_moved", "processor or card clocks changed", "核心频率变动"},
    {"fault.thermal_drift", "thermal drift", "温度漂移"},
    {"fault.swapped", "the machine swapped", "用到了交换分区"},
    {"fault.busy_machine", "something else used the machine", "机器上有其他负载"},
    {"fault.card_idle", "a card did not work", "有卡没干活"},
    {"fault.wrong_answer", "wrong answer", "回答错误"},
    {"fault.memory_grew", "server memory grew", "服务端内存增长"},
    {"fault.slowed_down", "slowed down over time", "越跑越慢"},
    {"fault.interrupted", "interrupted", "被中断"},
    {"fault.recording_failed", "recording failed", "记录写入失败"},
    {"fault.config_changed", "the server changed during the run", "运行中服务端变了"},
    {"fault.not_measured", "could not be measured here", "此处无法测量"},

    {"severity.note", "note", "提示"},
    {"severity.warning", "warning", "警告"},
    {"severity.voids", "void", "作废"},

    {"finish.stop", "stop", "正常结束"},
    {"finish.length", "length", "到达长度"},
    {"finish.tool_calls", "tool calls", "工具调用"},
    {"finish.error", "error", "错误"},
    {"finish.cancelled", "cancelled", "已取消"},
    {"finish.timeout", "timeout", "超时"},

    {"state.complete", "complete", "完整"},
    {"state.partial", "partial", "不完整"},
    {"state.voided", "void", "作废"},
    {"run_state.unfinished", "unfinished: the run has no end in its store",
     "未结束：存储里没有结束标记"},
    {"run_state.complete", "complete", "完整"},
    {"run_state.interrupted", "interrupted: what was done is kept", "被中断：已完成部分保留"},
    {"run_state.failed", "failed", "失败"},
};

}  // namespace evener::bench
