-- Cuts an answer that is longer than the given number of bytes. HAProxy has no directive for it, and a chunked
-- answer or a stream declares no length that a rule could compare. Cuts an answer with trailers as well, which no rule
-- for headers sees.
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

-- What the mark at the end of a chunked answer counts in input(); trailers count on top of it.
local MARK = 1

function ResponseLimit:http_payload(txn, message)
    local length = message:input()
    if message:eom() and length - #(message:body() or "") > MARK then
        error("the answer has trailers", 0)
    end
    self.left = self.left - length
    if self.left < 0 then
        -- The mark is not of the answer.
        self.left = self.left + length - #(message:body() or "")
    end
    if self.left < 0 then
        -- Returning filter.ERROR here lets the data pass; an error ends the answer on both sides.
        error("the answer is longer than permitted", 0)
    end
    return length
end

-- Ends an exchange without an answer. "tcp-response content reject" leaves one with a filter standing for ever, and its
-- connections open.
core.register_action("end-exchange", { "tcp-res" }, function(txn)
    txn:done()
end)

core.register_filter("response-limit", ResponseLimit, function(instance, arguments)
    instance.bytes = tonumber(arguments[1])
    return instance
end)
