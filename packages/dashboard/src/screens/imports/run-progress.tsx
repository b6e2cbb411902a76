import { Progress, Stack, Text } from '@mantine/core';
import { CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Import, ImportProgress } from '@beckon/contract/dashboard';
import { formatSpan } from '../../parts/index.ts';
import { Facts } from '../../parts/facts.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Section } from '../../parts/section.tsx';
import { Findings } from './findings.tsx';
import { broughtLine, count, factLabel, nothingNew, percentOf } from './words.ts';

const TITLES: Partial<Record<Import['state'], string>> = { checking: 'Check', done: 'Report' };

/** The progress and the results so far. */
export function RunProgress({ dataImport }: { dataImport: Import }): ReactNode {
  const { state, progress } = dataImport;
  const percent = percentOf(dataImport);
  const again = state === 'done' ? nothingNew(dataImport) : null;
  return (
    <Section title={TITLES[state] ?? 'Progress'}>
      <Stack gap="md">
        {again !== null && <Notice icon={CircleCheck} title={again} />}
        <Progress
          value={percent ?? 100}
          animated={percent === null && state !== 'paused'}
          aria-label={state === 'checking' ? 'Checked' : 'Imported'}
        />
        <Facts facts={factsOf(dataImport, percent)} />
        {state !== 'checking' && (
          <Text size="sm" role="status">
            {broughtLine(dataImport)} {state === 'done' && !dataImport.is_live && 'It triggered 0 emails.'}
          </Text>
        )}
        {progress.rejected > 0 && <Findings dataImport={dataImport} />}
      </Stack>
    </Section>
  );
}

function factsOf(dataImport: Import, percent: number | null) {
  const { progress, facts, state } = dataImport;
  const { rows, rows_total: total, rows_per_s: rate, erased } = progress;
  const left = progress.seconds_left;
  const isAtWork = state === 'running' || state === 'checking';
  return [
    { label: 'Rows', value: total === null ? count(rows) : `${count(rows)} of ${count(total)}` },
    ...(percent === null ? [] : [{ label: 'Done', value: `${Math.floor(percent)} %` }]),
    ...(isAtWork && rate !== null ? [{ label: 'Rows per second', value: count(rate) }] : []),
    ...(isAtWork && left !== null
      ? [{ label: 'Time left', value: `about ${formatSpan(left * 1_000)}` }]
      : []),
    ...(isAtWork && progress.waits_for !== null
      ? [{ label: 'Waiting', value: WAITS[progress.waits_for] }]
      : []),
    ...(erased > 0 ? [{ label: 'Skipped (erased users)', value: count(erased) }] : []),
    ...Object.entries(facts).map(([name, value]) => ({ label: factLabel(name), value: count(value) })),
  ];
}

const WAITS: Record<NonNullable<ImportProgress['waits_for']>, string> = {
  queue: 'for space in the ingest queue',
  another_import: 'for another import of this project',
  worker: 'for a worker',
};
