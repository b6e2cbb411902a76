import { BOUNDS } from './prose/surfaces.ts';
import { exceeds, type Finding, measure, type Measured, readFiles, RULES, shareOf } from './prose/measure.ts';

/**
 * Checks how plainly Beckon speaks: its glossary, its sentences' openings and their length, on each surface.
 *
 * Without arguments it compares each surface with the bounds (`prose/surfaces.ts`), and fails if one exceeds them. With files or
 * folders as arguments it lists all findings in these, and does not fail.
 */
const LISTED_MAX = 50;
const paths = process.argv.slice(2).map((path) => path.replace(/^\.\//, '').replace(/\/$/, ''));
const surfaces = measure(readFiles(process.cwd()));

if (paths.length > 0) list();
else compare();

function list(): void {
  const findings = surfaces.flatMap((measured) => measured.findings);
  const selected = findings.filter(({ file }) =>
    paths.some((path) => file === path || file.startsWith(`${path}/`)),
  );
  for (const finding of selected) console.log(printed(finding));
  console.log(`${selected.length} findings`);
}

function compare(): void {
  for (const measured of surfaces) console.log(summary(measured));
  for (const measured of surfaces)
    for (const rule of RULES.filter((candidate) => exceeds(measured, candidate))) {
      const { name } = measured.surface;
      const findings = measured.findings.filter((finding) => finding.rule === rule);
      console.log(`\n${name}: ${rule} is above its bound of ${BOUNDS[rule]} %`);
      for (const finding of findings.slice(0, LISTED_MAX)) console.log(printed(finding));
      if (findings.length > LISTED_MAX)
        console.log(
          `… and ${findings.length - LISTED_MAX} more: node scripts/check-prose.ts <file or folder>`,
        );
      process.exitCode = 1;
    }
}

function summary(measured: Measured): string {
  const { surface, sentences } = measured;
  const shares = RULES.map((rule) => {
    const share = `${shareOf(measured, rule).toFixed(1)} %`;
    return `${rule} ${share.padStart(6)} of ${BOUNDS[rule]} %`;
  });
  return [surface.name.padEnd(18), String(sentences).padStart(6), ...shares.map((share) => share.padEnd(28))]
    .join('  ')
    .trimEnd();
}

function printed({ file, line, advice, text }: Finding): string {
  return `${file}:${line}  ${advice}\n    ${text.length > 160 ? `${text.slice(0, 159)}…` : text}`;
}
