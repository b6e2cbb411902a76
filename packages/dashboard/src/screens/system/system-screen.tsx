import type { SystemState, SystemStorage } from '@beckon/contract/dashboard';
import { Alert, Stack, Text } from '@mantine/core';
import { CircleCheck, Clock, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { apiUrl, useApi, useMay, useProject } from '../../api/index.ts';
import { formatSpan, Loaded, Mark, Page, When } from '../../parts/index.ts';
import { Facts } from '../../parts/facts.tsx';
import { SmallTable } from '../../parts/small-table.tsx';
import { formatBytes, JOB_NAMES, systemProblems } from './system-words.ts';
import { DownloadButton } from '../../parts/download-button.tsx';
import { Titled } from '../../parts/titled.tsx';
import { Muted } from '../../parts/muted.tsx';

export function SystemScreen(): ReactNode {
  const project = useProject();
  const may = useMay('admin');
  const query = useApi('GET /projects/:project/system', {}, { everyMs: 5_000 });
  const bundle = (
    <DownloadButton
      href={apiUrl('GET /projects/:project/support-bundle', { params: { project: project.id } })}
    >
      Download support bundle
    </DownloadButton>
  );
  return (
    <Page title="System" actions={may ? bundle : undefined}>
      <Stack gap="xl">
        <Loaded query={query}>{({ data }) => <System state={data} />}</Loaded>
        {may && (
          <Muted size="xs" maw={720}>
            The support bundle is a JSON file with numbers, states and settings for a support request. It
            contains no secrets and no user data. Check it before you send it.
          </Muted>
        )}
      </Stack>
    </Page>
  );
}

function System({ state }: { state: SystemState }): ReactNode {
  const problems = systemProblems(state);
  return (
    <Stack gap="xl">
      {problems.length === 0 && <Mark icon={CircleCheck} tone="good" label="All systems normal" />}
      {problems.map(({ title, next }) => (
        <Alert
          key={title}
          color="gray"
          variant="outline"
          icon={<TriangleAlert size={18} aria-hidden="true" />}
          title={title}
        >
          {next}
        </Alert>
      ))}
      <Facts facts={queueFacts(state)} />
      <Jobs jobs={state.jobs} />
      <Facts facts={versionFacts(state)} />
      {state.storage && <Tables tables={state.storage.tables} />}
    </Stack>
  );
}

function queueFacts({ queue, webhooks }: SystemState) {
  const count = (value: number): string => value.toLocaleString('en-GB');
  return [
    { label: 'Live records waiting', value: count(queue.live) },
    { label: 'Bulk records waiting', value: count(queue.bulk) },
    { label: 'Ingest queue', value: `${count(queue.live + queue.bulk)} of ${count(queue.max)}` },
    {
      label: 'Oldest record has waited',
      value: queue.live + queue.bulk === 0 ? 'no records waiting' : formatSpan(queue.oldest_ms),
    },
    { label: 'Dead-lettered records', value: count(queue.dead_letters) },
    { label: 'Webhook deliveries waiting', value: count(webhooks.pending) },
    { label: 'Webhook deliveries in progress', value: count(webhooks.delivering) },
  ];
}

function versionFacts(state: SystemState) {
  const { clock_offset_ms: offset } = state;
  return [
    { label: 'Beckon', value: state.version },
    { label: 'Node', value: state.node },
    { label: 'PostgreSQL', value: state.postgres },
    { label: 'Schema', value: state.schema },
    ...(state.storage ? [{ label: 'Database', value: formatBytes(state.storage.database_bytes) }] : []),
    { label: 'Clock offset to the database', value: offset === null ? 'not measured yet' : `${offset} ms` },
  ];
}

function Jobs({ jobs }: { jobs: SystemState['jobs'] }): ReactNode {
  return (
    <Titled id="jobs" title="Workers">
      <SmallTable
        aria-labelledby="jobs"
        verticalSpacing="xs"
        heads={['Worker', 'Next work', 'State']}
        rows={jobs.map(({ name, next_at: at, late_ms: late }) => ({
          key: name,
          cells: [
            <>
              <Text size="sm">{JOB_NAMES[name]?.name ?? name}</Text>
              <Muted size="xs">{JOB_NAMES[name]?.does}</Muted>
            </>,
            <When at={at} none="none" />,
            <JobMark late={late} />,
          ],
        }))}
      />
    </Titled>
  );
}

/** An idle worker polls four times per second, so short delays are normal. */
const ON_TIME_MS = 5_000;

function JobMark({ late }: { late: number }): ReactNode {
  if (late <= ON_TIME_MS) return <Mark icon={CircleCheck} tone="good" label="On time" />;
  return <Mark icon={Clock} tone="warn" label={`${formatSpan(late)} late`} />;
}

function Tables({ tables }: { tables: SystemStorage['tables'] }): ReactNode {
  return (
    <Titled id="tables" title="Largest tables">
      <SmallTable
        aria-labelledby="tables"
        verticalSpacing={4}
        heads={['Table', { title: 'Size', ta: 'right' }, { title: 'Rows (estimate)', ta: 'right' }]}
        rows={tables.map(({ name, bytes, rows }) => ({
          key: name,
          cells: [<code>{name}</code>, formatBytes(bytes), rows.toLocaleString('en-GB')],
        }))}
      />
    </Titled>
  );
}
