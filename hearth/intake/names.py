"""Names of request fields that a claim cannot allow with `extraFields`: known ones, and those that nobody may have."""

from typing import Final

API_FIELDS: Final = frozenset(
    {
        *("background", "best_of", "dimensions", "echo", "encoding_format", "frequency_penalty", "include", "input"),
        *("instructions", "logit_bias", "logprobs", "max_completion_tokens", "max_output_tokens", "max_tokens"),
        *("messages", "metadata", "modalities", "model", "n", "parallel_tool_calls", "presence_penalty", "prompt"),
        *("prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "reasoning", "reasoning_effort"),
        *("response_format", "safety_identifier", "seed", "service_tier", "stop", "store", "stream", "stream_options"),
        *("suffix", "temperature", "text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user"),
        "verbosity",
    }
)
"""Fields of the schemas of all operations."""
NEVER: Final = frozenset(
    {
        # Bounds of the answer under another name: two numbers are two truths.
        *("n_predict", "num_predict", "max_new_tokens", "max_gen_len", "max_length", "t_max_predict_ms", "best_of"),
        # What belongs to other requests, or to the server: slots, adapters, priorities, caches, identities.
        *(
            "id_slot",
            "lora",
            "priority",
            "request_id",
            "kv_transfer_params",
            "vllm_xargs",
            "keep_alive",
            "cache_prompt",
        ),
        *("slot_id", "lora_request", "logits_processors", "return_progress", "response_fields", "speculative"),
        # A template is a program, and files and addresses are read by whoever understands them.
        *("chat_template", "template", "mm_processor_kwargs", "documents", "data_sources", "tools_path"),
        # What carries further fields to LiteLLM or the SDK, and what LiteLLM reads out of `extra_body`.
        *("extra_body", "extra_headers", "extra_query", "options", "metadata", "headers", "timeout", "model"),
        *("azure_ad_token", "custom_llm_provider", "litellm_metadata", "litellm_params", "output_config"),
        *("prompt_cache_options", "reasoningSummary", "reasoning_summary", "thinking", "web_search_options"),
    }
)
"""Names that no claim can allow, and why."""
