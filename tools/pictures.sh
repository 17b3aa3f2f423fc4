#!/usr/bin/env bash
# Makes the pictures of the guide: the real Wireshark, with the plugin of the build folder and the profile, on captures of this
# repository, under a display that nobody sees:   tools/pictures.sh [NAME ...]
#
# Apache Iggy dissector for Wireshark
#
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Names are those of the pictures in docs/pictures; without one, all are made. Look at them: the script sees only that there is
# a window. As root, Wireshark runs as an unprivileged user, since it reads no uninstalled plugins as root.

. "$(dirname "${BASH_SOURCE[0]}")/prepare.sh"

PICTURE_PACKAGES=(wireshark xvfb xdotool imagemagick fonts-dejavu-core)
size=1500x860
file_at=20 statistics_at=326 # places in the menu bar
patience=${PATIENCE:-3} # seconds that a window gets to draw itself
work=$(mktemp -d)
chmod 755 "$work"
jobs_of_mine=()
trap 'stop_all; rm -rf "$work"' EXIT

stop_all() {
    local job
    for job in "${jobs_of_mine[@]}"; do
        kill "$job" 2>/dev/null || true
        wait "$job" 2>/dev/null || true
    done
    jobs_of_mine=()
}

as_user=()
[ "$(id -u)" -ne 0 ] || as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)

start_display() {
    Xvfb -displayfd 3 -screen 0 "${size}x24" -nolisten tcp 3>"$work/display" >"$work/xvfb.log" 2>&1 &
    jobs_of_mine+=($!)
    local n
    for n in $(seq 50); do
        [ ! -s "$work/display" ] || break
        sleep 0.2
    done
    DISPLAY=:$(cat "$work/display")
    [ "$DISPLAY" != : ] || fail "no virtual display: $(tail -n 3 "$work/xvfb.log")"
    export DISPLAY
}

# The folders that Wireshark runs in: plugin, profile, window of a known size, no questions.
prepare_folders() {
    mkdir -p "$work/config/profiles" "$work/plugins" "$work/home"
    cp -r "$build/plugins/." "$work/plugins/"
    cp -r "$top/profile/Iggy" "$work/config/profiles/Iggy"
    cat >>"$work/config/profiles/Iggy/preferences" <<'END'
gui.update.enabled: FALSE
gui.ask_unsaved: FALSE
gui.layout_type: 1
END
    cat >"$work/config/recent_common" <<END
gui.geometry_main_x: 0
gui.geometry_main_y: 0
gui.geometry_main_width: ${size%x*}
gui.geometry_main_height: ${size#*x}
gui.geometry_main_maximized: FALSE
privs.warn_if_elevated: FALSE
END
    cat >"$work/config/profiles/Iggy/recent" <<'END'
gui.toolbar_main_show: TRUE
gui.filter_toolbar_show: TRUE
gui.byte_view_show: FALSE
gui.geometry_main_upper_pane: 400
gui.geometry_main_lower_pane: 300
gui.time_format: RELATIVE
column.width: %m, 45, %t, 80, %s, 80, %d, 80, %p, 50, %Cus:iggy.request, 60, %Cus:iggy.code, 165, %Cus:iggy.stream.name, 55, %Cus:iggy.topic.name, 60, %Cus:iggy.partition.id, 60, %Cus:iggy.messages_count, 65, %Cus:iggy.response_time, 100, %Cus:iggy.error, 170, %i, 450
END
    cat >"$work/config/profiles/Iggy/io_graphs" <<'END'
"Enabled","Lag of billing","iggy.consumer.name == \x22billing\x22","#a40000","Line","MAX(Y Field)","iggy.consumer.lag","None","1"
"Enabled","Lag of mailer","iggy.consumer.name == \x22mailer\x22","#3465a4","Line","MAX(Y Field)","iggy.consumer.lag","None","1"
END
    chmod -R a+rwX "$work/config" "$work/home" "$work/plugins"
}

# window PATTERN: waits for the window whose title fits; its number.
window() {
    local found n
    for n in $(seq 100); do
        found=$(xdotool search --onlyvisible --name "$1" 2>/dev/null | tail -n 1 || true)
        [ -z "$found" ] || { echo "$found"; return; }
        sleep 0.3
    done
    fail "no window \"$1\""
}

# open CAPTURE [options of wireshark]: starts Wireshark, and waits until the main window fills the display.
program=
open_capture() {
    local capture=$1 id
    shift
    cp "$top/captures/$capture" "$work/$(basename "$capture")"
    chmod a+r "$work/$(basename "$capture")"
    "${as_user[@]}" env HOME="$work/home" XDG_RUNTIME_DIR="$work/home" WIRESHARK_CONFIG_DIR="$work/config" QT_QPA_PLATFORM=xcb \
        WIRESHARK_PLUGIN_DIR="$work/plugins" LC_ALL=C.UTF-8 TZ=UTC \
        wireshark -C Iggy -n -r "$work/$(basename "$capture")" "$@" >"$work/wireshark.log" 2>&1 &
    program=$!
    jobs_of_mine+=("$program")
    id=$(window "$(basename "$capture")")
    sleep "$patience"
    xdotool windowsize "$id" "${size%x*}" "${size#*x}" windowmove "$id" 0 0 sleep 1
}

# Opens the protocol's tree in the details, and closes its header: the fifth line below the bar.
open_details() {
    xdotool mousemove 300 598 click 1 sleep 1 key shift+Right sleep 1 key Down key Left sleep 1
}

# menu X KEYS...: the menu at X of the bar, by keys from there on.
menu() {
    local key
    xdotool mousemove "$1" 10 click 1 sleep 1
    for key in "${@:2}"; do
        xdotool key "$key" sleep 0.3
    done
    sleep "$patience"
}

# A dialog, in the middle of the display and large enough to read.
show_dialog() {
    local id
    id=$(window "$1")
    sleep "$patience"
    xdotool windowsize "$id" 1150 560 windowmove "$id" 170 170 windowraise "$id" sleep 1
}

# Takes the picture and ends Wireshark.
take() {
    import -window root "$work/$1.png"
    mkdir -p "$top/docs/pictures"
    convert "$work/$1.png" -strip -colors 200 -define png:compression-level=9 "$top/docs/pictures/$1.png"
    kill "$program" 2>/dev/null || true
    wait "$program" 2>/dev/null || true
    echo "docs/pictures/$1.png"
}

make_picture() {
    case $1 in
    profile)
        open_capture made/incident.pcap -Y iggy -g 344
        open_details
        ;;
    details)
        open_capture real/02_produce_consume_rust.pcapng -Y iggy.message -g 56
        open_details
        xdotool key Page_Down Page_Down sleep 1
        ;;
    errors)
        open_capture real012/05_errors.pcapng -Y iggy -g 66
        open_details
        ;;
    lag)
        open_capture made/incident.pcap -z io,stat
        show_dialog 'I/O Graphs'
        ;;
    times)
        open_capture real/02_produce_consume_rust.pcapng -z iggy,srt
        show_dialog 'Response Time'
        ;;
    menu)
        open_capture made/incident.pcap
        menu "$statistics_at" Up Right
        ;;
    statistics)
        open_capture made/incident.pcap
        menu "$statistics_at" Up Right Up Return
        show_dialog 'Sessions'
        ;;
    clients)
        open_capture made/incident.pcap -z iggy,clients
        show_dialog 'Iggy Clients'
        ;;
    topics)
        open_capture real/02_produce_consume_rust.pcapng -z iggy,topics
        show_dialog 'Iggy Topics'
        ;;
    export)
        open_capture made/incident.pcap
        menu "$file_at" Up Up Up Right Down Down Down Return
        show_dialog 'Export'
        ;;
    *) fail "no picture \"$1\"" ;;
    esac
    take "$1"
}

prepare "${PICTURE_PACKAGES[@]}"
build_plugin
prepare_folders
start_display
[ $# -gt 0 ] || set -- profile details errors lag times menu statistics clients topics export
for name in "$@"; do
    make_picture "$name"
done
