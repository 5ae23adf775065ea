"""Shell functions that stand for the commands of a host and a switch.

The functions keep their state in files, so they need no root. They answer like the real commands
that advice uses. Like the real command, `ip route` prints the options in a fixed order, and prints
"rto_min lock", which it does not accept as input. The default queue cannot be deleted.
"""

HOSTS = r"""
S=$(mktemp -d) && cd $S && trap 'rm -r $S' EXIT
mkdir sysctl ceph checkpoints
put() { echo "$2" > sysctl/net.ipv4.$1; }
put tcp_rmem '4096	131072	33554432'; put tcp_sack 0; put tcp_recovery 0; put tcp_ecn 2
put tcp_early_retrans 1; put tcp_slow_start_after_idle 1; put tcp_congestion_control cubic
echo 1024 > ceph/objecter_inflight_ops
echo '{"before": 1}' > database
echo "$ROUTE" > route

sysctl() {
    case $1 in
        -n) cat sysctl/$2 ;;
        -w) echo "${2#*=}" > sysctl/${2%%=*} ;;
    esac
}
ip() {
    case "$1 $2" in
        "route show") cat route ;;
        "tcp_metrics flush") ;;
        "route change") shift 2; change "$@" ;;
        *) return 1 ;;
    esac
}
change() {
    to= cwnd= initcwnd= quickack= rto_min=
    while [ $# -gt 0 ]; do
        case $1 in
            cwnd) [ $2 != lock ] || { shift; lock=' lock'; }; cwnd=" cwnd$lock $2"; shift ;;
            initcwnd | quickack) eval "$1=' $1 $2'"; shift ;;
            rto_min) [ $2 != lock ] || return 1; rto_min=" rto_min lock $2"; shift ;;
            *) to="$to${to:+ }$1" ;;
        esac
        shift
    done
    echo "$to$cwnd$initcwnd$quickack$rto_min" > route
}
tc() {
    case "$2" in
        replace) shift 5; echo "$*" > qdisc ;;
        del) rm qdisc ;;
    esac
}
ceph() {
    case $2 in
        get) cat ceph/$4 ;;
        set) echo $5 > ceph/$4 ;;
    esac
}
sudo() { "$@"; }
modprobe() { :; }
config() {
    case $1 in
        list-checkpoints) ls checkpoints ;;
        checkpoint) cp database checkpoints/$2 ;;
        rollback) cp checkpoints/$2 database ;;
        delete-checkpoint) rm checkpoints/$2 ;;
        load) cat $3 >> database; rm $3 ;;
    esac
}
state() { grep -r . --exclude=before --exclude=after . | sort; }
"""
ROUTES = {
    "plain": "default via 192.0.2.254 dev eth0",
    "set": "default via 192.0.2.254 dev eth0 cwnd lock 9 initcwnd 20 quickack 1 rto_min lock 300ms",
}


def hosts(route: str) -> str:
    """Return the functions; at the start, the host already has the route."""
    return f"set -e\nROUTE='{ROUTES[route]}'\n{HOSTS}"
