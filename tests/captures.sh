#!/usr/bin/env bash
# Reads captures that ackclock writes with the tools that people open them with: no bad checksum,
# nothing malformed, the retransmissions that the sender counted, a comment on each packet.
set -euo pipefail
cd "$(dirname "$0")/.."
command=${ACKCLOCK:-target/release/ackclock}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
failed=0

check() { # what, found, wanted
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $1: found $2, wanted $3"
    fi
}

sum() { awk '{s += $1} END {print s}'; }

for strategy in newreno sack; do
    for options in "" "--timestamps"; do
        file=$scratch/$strategy.pcapng
        # shellcheck disable=SC2086
        $command compare --strategy $strategy --drop 14,26,28 $options --pcap "$file" \
            --format json >"$scratch/result.json"
        name="$strategy $options"
        count() {
            tshark -r "$file" -o tcp.check_checksum:TRUE -o ip.check_checksum:TRUE -Y "$1" \
                2>"$scratch/stderr" | wc -l
        }
        check "$name: bad or malformed packets" \
            "$(count 'tcp.checksum.status==0 || ip.checksum.status==0 || _ws.malformed')" 0
        check "$name: packets without a comment" "$(count '!frame.comment && tcp.flags.syn==0')" 0
        again='frame.comment contains "fast_retransmit" || frame.comment contains "recovery"'
        check "$name: retransmissions by cause" "$(count "$again")" 3
        check "$name: bytes of data" \
            "$(tshark -r "$file" -T fields -e tcp.len 2>/dev/null | sum)" 103000
        check "$name: tshark's complaints" \
            "$(grep -vc 'Running as user' "$scratch/stderr" || true)" 0
    done
    $command compare --strategy $strategy --drop 14,26,28 --pcap "$scratch/$strategy.pcap" \
        >/dev/null
    check "$strategy: retransmissions that tcptrace counts" \
        "$(tcptrace -l -n "$scratch/$strategy.pcap" | awk '/rexmt data pkts/ {print $4; exit}')" 3
done

# What is read of them, in every form that a file can have.
explain() {
    $command explain --format json "$@" |
        python3 -c "import json, sys; d = json.load(sys.stdin); print($field)"
}
for strategy in newreno sack; do
    file=$scratch/$strategy.pcapng
    editcap -F nsecpcap "$file" "$scratch/form.pcap"
    cp "$file" "$scratch/form.pcapng"
    gzip -kf "$scratch/form.pcap" "$scratch/form.pcapng"
    zstd -qkf "$scratch/form.pcap" "$scratch/form.pcapng"
    field='d["connections"][0]["retransmission_list"]'
    wanted=$(explain "$file")
    for form in pcap pcap.gz pcap.zst pcapng.gz pcapng.zst; do
        check "$strategy: what explain finds in $form" "$(explain "$scratch/form.$form")" "$wanted"
    done
    field='d["captures"][0]["packets"]'
    check "$strategy: packets that explain reads" "$(explain - <"$scratch/form.pcap.gz")" \
        "$(capinfos -M -c "$file" | awk '/Number/ {print $NF}')"
    field='d["captures"][0]["segments"]'
    for filter in 'src port 9' 'tcp[tcpflags] & tcp-push != 0 or less 60' \
        'greater 1000 and dst host 198.51.100.1'; do
        check "$strategy: segments that pass \`$filter\`" "$(explain --filter "$filter" "$file")" \
            "$(tcpdump -n -r "$file" "$filter" 2>/dev/null | wc -l)"
    done
done

# The same of real packets.
if [ "$(id -u)" = 0 ] && [ -e /dev/net/tun ]; then
    file=$scratch/wire.pcapng
    unshare --net bash -ec "ip link set lo up; nc -l 5001 >/dev/null & sleep 1
        $command send 10.77.0.1:5001 --bytes 300kb --pcap $file" >"$scratch/result"
    of() { tshark -r "$file" -Y "$1" -T fields -e "$2" 2>/dev/null; }
    check "wire: malformed packets" "$(of _ws.malformed frame.number | wc -l)" 0
    check "wire: bytes of data" "$(of 'ip.src==10.77.0.2' tcp.len | sum)" 307200
    check "wire: data without a cause" \
        "$(of 'tcp.len>0 && !(frame.comment contains "ackclock: ")' frame.number | wc -l)" 0
else
    echo "skipped: needs root and /dev/net/tun"
fi

echo "captures: $passed passed, $failed failed"
[ "$failed" = 0 ]
