// cache_tests.mjs - counts the results of cache-tests: a case counts when those
// that it depends on have passed, too. Fails when one fails that should not, or
// passes and is still on the list.
//
// usage: node cache_tests.mjs SUITE RESULTS
import fs from 'fs'

const [suite, file] = process.argv.slice(2)
const isOld = fs.existsSync(`${suite}/tests/surrogate-control.mjs`)
const { default: tests } = await import(`${suite}/tests/index.mjs`)
const surrogate = isOld
  ? [(await import(`${suite}/tests/surrogate-control.mjs`)).default]
  : []

// Those that fail, and why: docs/cache.md.
const KNOWN = new Set([
  'conditional-lm-fresh-no-lm',
  'partial-store-partial-reuse-partial',
  'partial-store-partial-reuse-partial-byterange',
  'partial-store-partial-reuse-partial-absent',
  'partial-store-partial-reuse-partial-suffix',
  'partial-store-partial-complete',
  'method-POST',
  'vary-normalise-lang-select'
])

// The older suite wants besides what RFC 9111 says otherwise, or no longer.
const KNOWN_OLD = [
  'stale-close-must-revalidate',
  'stale-close-proxy-revalidate',
  'stale-close-no-cache',
  'stale-close-s-maxage=2',
  '304-etag-update-response-ETag',
  '304-etag-update-response-Set-Cookie', // is for the client that asked alone
  '304-etag-update-response-Set-Cookie2',
  'age-parse-nonnumeric',
  'age-parse-negative',
  'age-parse-float',
  'age-parse-prefix-twoline',
  'age-parse-dup-0',
  'age-parse-dup-0-twoline',
  'age-parse-dup-old',
  'age-parse-parameter',
  'age-parse-numeric-parameter'
]
if (isOld) KNOWN_OLD.forEach((id) => KNOWN.add(id))

const results = JSON.parse(fs.readFileSync(file))
const cases = new Map()
const counts = {}
let wrong = 0

for (const group of new Set([...tests, ...surrogate])) {
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
