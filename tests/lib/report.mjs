// report.mjs - a reporter for node --test that ends with the plain line "N passed, N failed". Of what
// tests say with t.diagnostic() it prints what begins with "note: ".
export default async function* report(source) {
  let passed = 0;
  let failed = 0;
  let skipped = 0;
  for await (const { type, data } of source) {
    if (type === 'test:diagnostic' && data.message.startsWith('note: ')) yield `${data.message}\n`;
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (data.details?.type === 'suite') continue;
    if (data.name.endsWith('.mjs') && data.nesting === 0 && type === 'test:pass') continue;
    if (data.skip !== undefined) {
      skipped++;
      yield `skipped: ${data.name}: ${data.skip}\n`;
    } else if (type === 'test:pass') {
      passed++;
      yield `ok ${data.name} (${Math.round(data.details.duration_ms)} ms)\n`;
    } else {
      failed++;
      yield `FAILED ${data.name}\n${data.details.error?.cause?.stack ?? data.details.error?.stack ?? data.details.error}\n`;
    }
  }
  yield `${passed} passed, ${failed} failed, ${skipped} skipped\n`;
}
