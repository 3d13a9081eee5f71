-- Cuts an answer that is longer than the given number of bytes. HAProxy has no directive for it, and a chunked
-- answer or a stream declares no length that a rule could compare.
local ResponseLimit = {}
ResponseLimit.id = "response-limit"
ResponseLimit.flags = filter.FLT_CFG_FL_HTX
ResponseLimit.__index = ResponseLimit

function ResponseLimit:new()
    return setmetatable({ left = self.bytes }, ResponseLimit)
end

function ResponseLimit:start_analyze(txn, channel)
    if channel:is_resp() then
        filter.register_data_filter(self, channel)
    end
    return filter.CONTINUE
end

function ResponseLimit:http_payload(txn, message)
    local length = message:input()
    self.left = self.left - length
    if self.left < 0 then
        -- input() also counts the mark at the end of a chunked answer.
        self.left = self.left + length - #(message:body() or "")
    end
    if self.left < 0 then
        -- Returning filter.ERROR here lets the data pass; an error ends the answer on both sides.
        error("the answer is longer than permitted", 0)
    end
    return length
end

core.register_filter("response-limit", ResponseLimit, function(instance, arguments)
    instance.bytes = tonumber(arguments[1])
    return instance
end)
