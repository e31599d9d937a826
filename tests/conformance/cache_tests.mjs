// cache_tests.mjs - counts the results of cache-tests: a case counts when those
// that it depends on have passed, too. Fails when one fails that should not, or
// passes and is still on the list.
//
// usage: node cache_tests.mjs SUITE RESULTS
import fs from 'fs'

// Those that fail, and why: docs/cache.md.
const KNOWN = new Set([
  'stale-close-must-revalidate',
  'stale-close-proxy-revalidate',
  'stale-close-no-cache',
  'stale-close-s-maxage=2',
  'headers-store-Transfer-Encoding',
  'conditional-lm-fresh-no-lm',
  'partial-store-partial-reuse-partial',
  'partial-store-partial-reuse-partial-byterange',
  'partial-store-partial-reuse-partial-absent',
  'partial-store-partial-reuse-partial-suffix',
  'partial-store-partial-complete',
  'method-POST',
  'vary-normalise-lang-select'
])

const [suite, file] = process.argv.slice(2)
const { default: tests } = await import(`${suite}/tests/index.mjs`)
const { default: surrogate } = await import(`${suite}/tests/surrogate-control.mjs`)
const results = JSON.parse(fs.readFileSync(file))
const cases = new Map()
const counts = {}
let wrong = 0

for (const group of new Set([...tests, surrogate])) {
  for (const test of group.tests) cases.set(test.id, test)
}
const passes = (id) => results[id] === true &&
  (cases.get(id).depends_on || []).every(passes)

for (const [id, test] of cases) {
  const kind = test.kind || 'required'
  if (test.browser_only) continue
  counts[kind] = counts[kind] || [0, 0]
  counts[kind][1]++
  if (passes(id)) counts[kind][0]++
  if (kind === 'check' || passes(id) !== KNOWN.has(id)) continue
  wrong++
  console.log(`${id}: ${passes(id) ? 'passes now' : JSON.stringify(results[id])}`)
}
for (const [kind, [passed, all]] of Object.entries(counts)) {
  console.log(`${kind}: ${passed} of ${all}`)
}
process.exit(wrong > 0 ? 1 : 0)
