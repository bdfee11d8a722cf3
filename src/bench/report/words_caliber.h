#pragma once

#include "bench/report/word.h"

// Names of bench/caliber.h.

namespace evener::bench {

inline constexpr Word kWordsOfCaliber[] = {
    {"group.tool", "Measured by", "测试工具"},
    {"group.server", "Server", "服务端"},
    {"group.model", "Model", "模型"},
    {"group.engine", "Engine", "引擎"},
    {"group.host", "Host", "主机"},
    {"group.device", "Device", "设备"},
    {"group.method", "Method", "方法"},
    {"group.option", "Options", "选项"},
    {"group.other", "Other", "其他"},

    {"caliber.tool.version", "version", "版本"},
    {"caliber.tool.commit", "commit", "提交"},
    {"caliber.server.version", "version", "版本"},
    {"caliber.server.commit", "commit", "提交"},
    {"caliber.server.flags", "flags", "参数"},
    {"caliber.server.url_kind", "over", "连接"},
    {"caliber.model.hash", "hash", "哈希"},
    {"caliber.model.quantisation", "quantisation", "量化"},
    {"caliber.engine.context_tokens", "context", "上下文"},
    {"caliber.engine.kv_type", "KV type", "KV 类型"},
    {"caliber.engine.pool_tokens", "KV pool tokens", "KV 池 token"},
    {"caliber.engine.speculation", "speculation", "投机解码"},
    {"caliber.engine.tensor_parallel", "tensor parallel", "张量并行"},
    {"caliber.engine.max_running", "answers at a time", "最大并发"},
    {"caliber.engine.chunk_tokens", "chunk tokens", "分块 token"},
    {"caliber.host.facts_hash", "facts hash", "主机指纹"},
    {"caliber.host.cores", "cores", "核心数"},
    {"caliber.host.isa", "ISA", "指令集"},
    {"caliber.host.ram_bytes", "memory", "内存"},
    {"caliber.host.kernel", "kernel", "内核"},
    {"caliber.host.swap", "swap", "交换分区"},
    {"caliber.device.power_cap_w", "power cap (W)", "功耗墙 (W)"},
    {"caliber.device.clock_cap_mhz", "clock cap (MHz)", "频率上限 (MHz)"},
    {"caliber.device.link", "link", "链路"},
    {"caliber.device.driver", "driver", "驱动"},
    {"caliber.method.cache", "cache", "缓存"},
    {"caliber.method.warm_up", "warm-up", "预热"},
    {"caliber.method.length_control", "output length", "输出长度控制"},
    {"caliber.method.loop", "loop", "负载方式"},
    {"caliber.method.percentile", "percentiles", "分位数"},
    {"caliber.method.seed", "seed", "种子"},
    {"caliber.method.rounds", "rounds", "轮数"},
    {"caliber.method.client_cpus", "client CPUs", "压测端 CPU"},
};

}  // namespace evener::bench
