# SPDX-License-Identifier: MIT
#
# Two figures from the CSV files of allocbench, each as PNG and SVG:
#   PREFIX-latency   latency by percentile, a panel for each phase and op (the first six), rounds
#                    merged; dotted where fewer than 10 samples lie behind a percentile
#   PREFIX-memory    footprint over time of each back end, a line a round, above what is live
#
#   allocbench run … --csv-hist hist.csv --csv-timeline timeline.csv
#   gnuplot -c scripts/plot.gp hist.csv timeline.csv PREFIX
#
# A back end has the same colour in both. Names are read inside gnuplot and never reach a shell.

if (ARGC != 3) {
    print "usage: gnuplot -c plot.gp HIST.csv TIMELINE.csv PREFIX"
    exit status 2
}
hist = ARG1
timeline = ARG2
prefix = ARG3

# ---- what there is ----

MAX = 12
array backend[MAX]
array round[1000]
array phase[6]
array op[6]
n_backends = 0
n_rounds = 0
n_panels = 0
run = ""

find_backend(s, i) = i > n_backends ? 0 : backend[i] eq s ? i : find_backend(s, i + 1)
add_backend(s) = find_backend(s, 1) > 0 || n_backends == MAX ? 0 \
    : (n_backends = n_backends + 1, backend[n_backends] = s, 0)
find_round(s, i) = i > n_rounds ? 0 : round[i] eq s ? i : find_round(s, i + 1)
add_round(s) = find_round(s, 1) > 0 || n_rounds == 1000 ? 0 \
    : (n_rounds = n_rounds + 1, round[n_rounds] = s, 0)
find_panel(p, o, i) = i > n_panels ? 0 : phase[i] eq p && op[i] eq o ? i : find_panel(p, o, i + 1)
add_panel(p, o, size) = o eq "all" || size ne "" || find_panel(p, o, 1) > 0 || n_panels == 6 ? 0 \
    : (n_panels = n_panels + 1, phase[n_panels] = p, op[n_panels] = o, 0)

set datafile separator comma
stats hist skip 1 using (run = stringcolumn(1), add_backend(stringcolumn(3)), \
    add_panel(stringcolumn(4), stringcolumn(5), stringcolumn(6))) nooutput
stats timeline skip 1 using (add_backend(stringcolumn(3)), add_round(stringcolumn(2))) nooutput
if (n_panels == 0) {
    print hist, ": no histograms"
    exit status 1
}

# ---- latency: $solid_P_B and $dotted_P_B hold (x, ns) of panel P and back end B ----

# 0, 90, 99, 99.9 … % are 0, 1, 2, 3 …
axis(p, n) = -log10(p < 1 ? 1 - p : 1.0 / n)
is_mine(b) = stringcolumn(3) eq backend[b]
is_shown(p) = stringcolumn(4) eq phase[p] && stringcolumn(5) eq op[p] && stringcolumn(6) eq ""

array n_samples[6 * MAX]
most = 1000.0
lowest = 1e9
highest = 1.0
do for [p = 1:n_panels] {
    do for [b = 1:n_backends] {
        set datafile separator comma
        set table $counts
        plot hist skip 1 using 8:9 with table if (is_mine(b) && is_shown(p))
        unset table
        set datafile separator whitespace
        n = 0
        if (|$counts| > 0) {
            stats $counts using 2 nooutput
            n = STATS_sum
        }
        n_samples[(p - 1) * MAX + b] = n
        eval sprintf("set print $dotted_%d_%d", p, b)
        unset print
        if (n < 20) { continue }
        most = n > most ? n : most
        set table $cumulative
        plot $counts using 1:2 smooth cnormal
        unset table
        edge = axis(1 - 10.0 / n, n)
        at = 0.0
        eval sprintf("set print $solid_%d_%d", p, b)
        do for [i = 1:|$cumulative|] {
            line = $cumulative[i]
            if (words(line) < 3 || word(line, 1) eq "#") { continue }
            eval "value = " . word(line, 1) # "5e-05" + 0 is no number to gnuplot 5.4
            lowest = value < lowest ? value : lowest
            highest = value > highest ? value : highest
            eval "share = " . word(line, 2)
            next = axis(share, n)
            print at, value
            if (at <= edge && next > edge) { # the last value is always behind it
                print edge, value
                eval sprintf("set print $dotted_%d_%d", p, b)
                print edge, value
            }
            print next, value
            at = next
        }
        unset print
    }
}

lowest = lowest < 1 ? 1 : 0.99 * 10 ** floor(log10(lowest))
highest = highest * 1.5

# ---- memory: $footprint_B_K of back end B and round K; $live of any ----

is_series(b, k, s) = is_mine(b) && stringcolumn(2) eq round[k] && stringcolumn(4) eq s
MIB = 2.0 ** 20
has_live = 0
peak = 0
live_peak = 0
array n_points[MAX * 1000]
set datafile separator comma
do for [b = 1:n_backends] {
    do for [k = 1:n_rounds] {
        eval sprintf("set table $footprint_%d_%d", b, k)
        plot timeline skip 1 using 5:6 with table if (is_series(b, k, "footprint"))
        unset table
        eval sprintf("n = |$footprint_%d_%d|", b, k)
        n_points[(b - 1) * 1000 + k] = n
        if (n > 0) {
            set datafile separator whitespace
            eval sprintf("stats $footprint_%d_%d using 2 nooutput", b, k)
            peak = STATS_max > peak ? STATS_max : peak
            set datafile separator comma
        }
        if (!has_live && n > 0) {
            set table $live
            plot timeline skip 1 using 5:6 with table if (is_series(b, k, "live"))
            unset table
            has_live = |$live| > 0
        }
    }
}
set datafile separator whitespace
if (has_live) {
    stats $live using 2 nooutput
    live_peak = STATS_max
}

# ---- how it looks ----

array colour[MAX] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5195", \
    "#8C6D31", "#444444", "#B30000", "#66A61E", "#1B4F72"]
set style line 100 linecolor rgb "#dcdcdc" linewidth 1
set style line 101 linecolor rgb "#666666" linewidth 1
set border 3 linestyle 101
set tics nomirror out textcolor rgb "#333333"
set grid xtics ytics linestyle 100
# Elsewhere gnuplot would complain that the locale has no degree sign.
if (system("locale charmap") eq "UTF-8") {
    set encoding utf8
}

# The curves of panel p, as a command: samples behind them first, then what chance may have made.
do for [p = 1:n_panels] {
    curves = "plot "
    do for [b = 1:n_backends] {
        if (n_samples[(p - 1) * MAX + b] >= 20) {
            curves = curves . sprintf("$solid_%d_%d using 1:2 with lines linewidth 2 " \
                . "linecolor rgb colour[%d] notitle, $dotted_%d_%d using 1:2 with lines " \
                . "linewidth 2 dashtype 3 linecolor rgb colour[%d] notitle, ", p, b, b, p, b, b)
        }
    }
    # one entry of the legend for each back end, also for those without samples here
    curves = curves . sprintf("for [b = 1:%d] NaN with lines linewidth 4 linecolor rgb colour[b] " \
        . "title backend[b]", n_backends)
    eval sprintf("curves_%d = curves", p)
}

curves = "plot "
if (has_live) {
    curves = curves . "$live using 1:($2 / MIB) with filledcurves y1=0 fillcolor rgb '#e4e4e4' " \
        . "title 'live (requested)', "
}
do for [b = 1:n_backends] {
    do for [k = 1:n_rounds] {
        if (n_points[(b - 1) * 1000 + k] > 0) {
            curves = curves . sprintf("$footprint_%d_%d using 1:($2 / MIB) with lines " \
                . "linewidth 1.5 linecolor rgb colour[%d] notitle, ", b, k, b)
        }
    }
}
memory_curves = curves . sprintf("for [b = 1:%d] NaN with lines linewidth 4 linecolor rgb " \
    . "colour[b] title backend[b]", n_backends)

# ---- figures ----

columns = n_panels == 1 ? 1 : 2
rows = (n_panels + columns - 1) / columns
width = n_panels == 1 ? 960 : 1280
height = 150 + 340 * rows
LATENCY_TICS = "set xtics ('0' 0, '50%%' 0.30103, '90%%' 1, '99%%' 2, '99.9%%' 3, '99.99%%' 4, " \
    . "'99.999%%' 5, '99.9999%%' 6, '99.99999%%' 7, '99.999999%%' 8)"

do for [format in "png svg"] {
    terminal = format eq "png" ? "pngcairo" : "svg background 'white'"
    eval sprintf("set terminal %s noenhanced size %d, %d font 'DejaVu Sans,%d'", terminal, width, \
        height, format eq "png" ? 11 : 13)
    set output sprintf("%s-latency.%s", prefix, format)
    set logscale y
    set xrange [0:log10(most) * 1.02]
    set ytics ("1 ns" 1, "10 ns" 10, "100 ns" 100, "1 µs" 1e3, "10 µs" 1e4, "100 µs" 1e5, \
        "1 ms" 1e6, "10 ms" 1e7, "100 ms" 1e8, "1 s" 1e9, "10 s" 1e10)
    set yrange [lowest:highest]
    eval LATENCY_TICS
    set multiplot layout rows, columns margins screen 0.075, 0.975, 85.0 / height, \
        1 - 115.0 / height spacing screen 0.075, 90.0 / height
    set label 1 "Latency of single ops by percentile" at screen 0.5, 1 - 24.0 / height center \
        font ",15"
    set label 2 sprintf("run %s; dotted: fewer than 10 samples behind", run) at screen 0.5, \
        1 - 46.0 / height center textcolor rgb "#666666"
    set key at screen 0.5, 1 - 62.0 / height center top horizontal maxrows 1 samplen 2 reverse Left
    do for [p = 1:n_panels] {
        set title sprintf("%s: %s", phase[p], op[p]) offset 0, -0.4
        set ylabel (p % columns == 1 || columns == 1 ? "time of one op" : "")
        set xlabel (p > n_panels - columns ? "percentile" : "")
        eval value(sprintf("curves_%d", p))
        unset key
        unset label
    }
    unset multiplot
    unset output

    eval sprintf("set terminal %s noenhanced size 1100, 620 font 'DejaVu Sans,%d'", terminal, \
        format eq "png" ? 11 : 13)
    set output sprintf("%s-memory.%s", prefix, format)
    set margins screen 0.09, screen 0.965, screen 0.13, screen 0.81
    set label 1 "Footprint over time" at screen 0.5, 1 - 26.0 / 620 center font ",15"
    set label 2 sprintf("run %s; a line for each round", run) at screen 0.5, 1 - 50.0 / 620 \
        center textcolor rgb "#666666"
    set key at screen 0.5, 1 - 66.0 / 620 center top horizontal maxrows 1 samplen 2 reverse Left
    unset title
    unset logscale
    set xlabel "ops done"
    set ylabel "MiB"
    set xtics autofreq
    set ytics autofreq
    set format x "%.1s%c"
    set xrange [*:*] noextend
    set yrange [0:*]
    # One back end that keeps everything would press the others to the ground.
    if (live_peak > 0 && peak > 5 * live_peak) {
        set logscale y
        set yrange [live_peak / MIB / 8:peak / MIB * 1.3]
        set ytics (0.01, 0.1)
        do for [i = 0:6] {
            set ytics add (10 ** i, 2 * 10 ** i, 5 * 10 ** i)
        }
        set ylabel "MiB (log scale)"
    }
    if (peak > 0) {
        eval memory_curves
    } else {
        print timeline, ": no footprint, no figure of memory"
    }
    unset output
    unset label
    unset logscale
    unset margins
    set format x "%h"
}
