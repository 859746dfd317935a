#include "page/style.h"

#include <fmt/format.h>

#include "page/plot.h"

namespace hone::page {
namespace {

constexpr std::string_view kStyle =
    R"(:root { --back: #fff; --text: #1c2024; --soft: #60646c; --rule: #d9dce1; --grid: #eceef1;
  --best: #c2410c; --one: #1d64c8; --row: #fff4ec; --card: #f7f8fa; --good: #2e8b57; --c2: #8b5cf6; --c3: #c08a00;
  --c4: #0e8f9c; --c5: #98a0aa; }
@media (prefers-color-scheme: dark) {
  :root { --back: #15171a; --text: #e6e8eb; --soft: #9ba1a9; --rule: #3a3f45; --grid: #24282d;
    --best: #ff9a5c; --one: #74a9f7; --row: #2c2018; --card: #1d2024; --good: #56c288; --c2: #b79bff; --c3: #e2b33c;
    --c4: #4cc3cf; --c5: #6c747d; }
}
body { margin: 0 auto; padding: 1.5rem; max-width: 68rem; background: var(--back);
  color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; }
h2 { font-size: 1.05rem; margin: 2rem 0 .4rem; }
p { margin: .3rem 0; max-width: 50rem; }
.soft { color: var(--soft); }
code, pre { font: 13px/1.5 ui-monospace, monospace; }
pre { padding: .7rem 1rem; border: 1px solid var(--rule); border-radius: 6px; overflow-x: auto; }
svg { display: block; width: 100%; height: auto; }
.grid2 { display: grid; gap: 1rem 1.5rem; grid-template-columns: repeat(auto-fill, minmax(19rem, 1fr)); }
svg text { font: 11px system-ui, sans-serif; fill: var(--soft); }
svg .name { font-size: 12px; fill: var(--text); }
svg .middle { text-anchor: middle; } svg .end { text-anchor: end; }
svg .grid { stroke: var(--grid); } svg .axis { stroke: var(--rule); }
svg .line { fill: none; stroke-linejoin: round; }
svg .all { stroke: var(--one); stroke-opacity: .35; }
svg .top { stroke: var(--best); stroke-width: 2; }
svg .complete { fill: var(--one); fill-opacity: .8; }
svg .stopped { fill: var(--back); stroke: var(--one); stroke-width: 1.5; }
svg .best { fill: var(--best); stroke: var(--back); stroke-width: 1.5; r: 6px; }
.wide { overflow-x: auto; } .wide svg { min-width: 38rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid var(--grid); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; border-color: var(--rule); }
td:last-child, th:last-child { text-align: left; white-space: normal; min-width: 8rem; }
tr.best td { background: var(--row); font-weight: 600; }
.tiles { display: grid; gap: .6rem; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr));
  margin: 1.1rem 0; }
.tile { padding: .6rem .8rem; border-radius: 8px; background: var(--card); }
.tile b { display: block; font-size: 1.35rem; font-weight: 650; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: .82rem; }
.badge { display: inline-block; padding: .05rem .55rem; border-radius: 1rem; font-size: .8rem;
  background: var(--card); color: var(--soft); vertical-align: .25rem; margin-left: .4rem; }
.badge.good { color: var(--good); }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; color: var(--soft); font-size: .85rem; }
.legend i { display: inline-block; width: .8rem; height: .8rem; border-radius: 3px; margin-right: .35rem;
  vertical-align: -.08rem; background: var(--c5); }
.bar { display: flex; height: 1.5rem; border-radius: 6px; overflow: hidden; margin: .5rem 0; gap: 2px; }
.bar i { display: block; min-width: 2px; }
i.step { background: var(--one) !important; } i.compile { background: var(--c2) !important; }
i.data { background: var(--c3) !important; } i.checkpoint { background: var(--c4) !important; }
i.evaluation { background: var(--best) !important; }
.bar i.other { background: var(--c5); }
svg .raw { stroke: var(--one); stroke-opacity: .38; }
svg .smooth { stroke: var(--one); stroke-width: 2; }
svg .valid { stroke: var(--best); stroke-width: 1.2; stroke-dasharray: 4 3; }
svg circle.valid, svg path.valid:not(.line) { fill: var(--best); stroke: var(--back); stroke-width: 1.5; stroke-dasharray: none; }
svg .plain { stroke: var(--one); stroke-width: 1.6; }
svg circle.plain { fill: var(--one); stroke: none; r: 2.5px; }
svg .column { fill: var(--one); fill-opacity: .75; }
svg .look rect { fill: transparent; }
svg .look > :not(rect) { opacity: 0; pointer-events: none; }
svg .look:hover > * { opacity: 1; }
svg .look path { stroke: var(--soft); stroke-dasharray: 2 3; }
svg .look circle { fill: var(--text); }
svg .look text { fill: var(--text); font-size: 12px; font-variant-numeric: tabular-nums; }
table.facts td { text-align: right; } table.facts td:first-child, table.facts th:first-child { text-align: left; color: var(--soft); }
table.facts th { text-align: right !important; min-width: 0 !important; }
table.facts td:last-child { text-align: right; white-space: pre-wrap; overflow-wrap: anywhere; min-width: 0; }
.sample { border: 1px solid var(--rule); border-radius: 8px; margin: .7rem 0; overflow: hidden; }
.sample h3 { margin: 0; padding: .35rem .9rem; background: var(--card); font-size: .85rem; color: var(--soft); }
.sample div { padding: .45rem .9rem; border-top: 1px solid var(--grid); }
.sample small { color: var(--soft); } .sample pre { border: 0; padding: 0; margin: .15rem 0; }
.narrow { display: none; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; }
details > summary { cursor: pointer; font-size: 1.05rem; font-weight: 650; margin: 2rem 0 .4rem; }
@media (max-width: 36rem) {
  body { padding: 1rem; } .grid2 { grid-template-columns: 1fr; }
  .broad { display: none; } .narrow { display: block; }
}
@media print { .look { display: none; } }
)";

}  // namespace

std::string head(std::string_view title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<title>{0}</title>\n<style>\n{1}</style></head><body>\n<h1>{0}</h1>\n",
      escaped(title), kStyle);
}

}  // namespace hone::page
