/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions that the kernel does not export, in the order of `FUNCTIONS` in
 * symbols.rs, which documents what each is needed for. symbols.c includes this file
 * several times, each time with a different definition of KTRACE_FUNCTION().
 */
KTRACE_FUNCTION(kallsyms_lookup_name);
KTRACE_FUNCTION(tracefs_create_file);
KTRACE_FUNCTION(tracefs_create_dir);
KTRACE_FUNCTION(tracefs_remove);
KTRACE_FUNCTION(tracing_check_open_get_tr);
KTRACE_FUNCTION(trace_array_put);
KTRACE_FUNCTION(tracing_log_err);
KTRACE_FUNCTION(sched_clock_noinstr);
KTRACE_FUNCTION(tracing_start_cmdline_record);
KTRACE_FUNCTION(tracing_stop_cmdline_record);
KTRACE_FUNCTION(tracing_record_taskinfo_sched_switch);
KTRACE_FUNCTION(ring_buffer_record_is_on_cpu);
KTRACE_FUNCTION(__get_wchan);
KTRACE_FUNCTION(register_ftrace_graph);
KTRACE_FUNCTION(unregister_ftrace_graph);
KTRACE_FUNCTION(fgraph_init_ops);
KTRACE_FUNCTION(fgraph_reserve_data);
KTRACE_FUNCTION(fgraph_retrieve_parent_data);
KTRACE_FUNCTION(fgraph_get_task_var);
KTRACE_FUNCTION(ftrace_graph_ret_addr);
KTRACE_FUNCTION(ftrace_graph_get_ret_stack);
KTRACE_FUNCTION(ftrace_graph_top_ret_addr);
KTRACE_FUNCTION(kallsyms_on_each_match_symbol);
KTRACE_FUNCTION(trace_default_header);
KTRACE_FUNCTION(print_graph_headers_flags);
KTRACE_FUNCTION(trace_print_graph_duration);
KTRACE_FUNCTION(trace_find_mark);
KTRACE_FUNCTION(trace_print_lat_fmt);
KTRACE_FUNCTION(trace_find_cmdline);
KTRACE_FUNCTION(ftrace_find_event);
KTRACE_FUNCTION(trace_print_bputs_msg_only);
KTRACE_FUNCTION(trace_print_bprintk_msg_only);
KTRACE_FUNCTION(trace_print_printk_msg_only);
KTRACE_FUNCTION(print_function_args);
KTRACE_FUNCTION(print_trace_line);
KTRACE_FUNCTION(task_work_add);
#ifdef CONFIG_TRACER_SNAPSHOT
KTRACE_FUNCTION(tracing_arm_snapshot);
KTRACE_FUNCTION(tracing_disarm_snapshot);
KTRACE_FUNCTION(tracing_snapshot_instance);
#endif
