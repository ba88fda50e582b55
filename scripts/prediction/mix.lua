-- Requests of wrk: a share of them, from 0 to 1, is for the page that a program makes, the others for a file.
local share

function init(words)
    share = tonumber(words[1])
    math.randomseed(1)
end

function request()
    return wrk.format("GET", math.random() < share and "/page" or "/14k")
end
