import { Group, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { FileUp, Info, TriangleAlert } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Import } from '@beckon/contract/dashboard';
import { useApi, useMay } from '../../api/index.ts';
import { Empty, Loaded, Page, When } from '../../parts/index.ts';
import { Facts } from '../../parts/facts.tsx';
import { Notice } from '../../parts/notice.tsx';
import { CheckReport } from './check-report.tsx';
import { ContinueUpload } from './continue-upload.tsx';
import { ImportActs } from './import-acts.tsx';
import { MappingStep } from './mapping-step.tsx';
import { RunProgress } from './run-progress.tsx';
import { StateMark } from './state-mark.tsx';
import { StripeStep } from './stripe-step.tsx';
import { KINDS, sizeOf } from './words.ts';
import { ActButton } from '../../parts/act-button.tsx';

const route = getRouteApi('/p/$project/imports/$import');
const AT_WORK_MS = 1_000;

export function ImportScreen(): ReactNode {
  const { import: id } = route.useParams();
  const may = useMay('editor');
  const query = useApi(
    'GET /projects/:project/imports/:import',
    { params: { import: id } },
    { everyMs: AT_WORK_MS, enabled: may },
  );
  const dataImport = query.data?.data;
  return (
    <Page
      title={dataImport?.name ?? 'Import'}
      beside={dataImport && <StateMark dataImport={dataImport} />}
      actions={dataImport && <ImportActs dataImport={dataImport} />}
    >
      {may ? (
        <Loaded query={query}>{({ data }) => <Steps key={data.id} dataImport={data} />}</Loaded>
      ) : (
        <Empty icon={FileUp} title="Imports require the editor role" />
      )}
    </Page>
  );
}

function Steps({ dataImport }: { dataImport: Import }): ReactNode {
  const { state, problem, check } = dataImport;
  return (
    <Stack gap="lg">
      <Facts facts={factsOf(dataImport)} />
      {problem !== null && (
        <Notice
          icon={state === 'canceled' ? Info : TriangleAlert}
          title={PROBLEMS[state] ?? 'Import stopped'}
        >
          {problem}
        </Notice>
      )}
      <NextStep dataImport={dataImport} />
      {HAS_PROGRESS.has(state) && <RunProgress dataImport={dataImport} />}
      {check && <CheckReport dataImport={dataImport} check={check} />}
      {state === 'checked' && dataImport.kind !== 'stripe' && <ColumnsAgain dataImport={dataImport} />}
    </Stack>
  );
}

/** The next step of the member. */
function NextStep({ dataImport }: { dataImport: Import }): ReactNode {
  const { state, kind, problem } = dataImport;
  if (state === 'uploading') return <ContinueUpload dataImport={dataImport} />;
  if (kind === 'stripe')
    return state === 'ready' || (state === 'paused' && problem !== null) ? (
      <StripeStep dataImport={dataImport} />
    ) : null;
  return state === 'ready' ? <MappingStep dataImport={dataImport} /> : null;
}

/** After reading the check results. */
function ColumnsAgain({ dataImport }: { dataImport: Import }): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  if (isOpen) return <MappingStep dataImport={dataImport} />;
  return (
    <Group>
      <ActButton onClick={() => setIsOpen(true)}>Change columns</ActButton>
    </Group>
  );
}

const HAS_PROGRESS = new Set(['checking', 'running', 'paused', 'done']);
const PROBLEMS: Partial<Record<Import['state'], string>> = {
  ready: 'Check failed',
  paused: 'Import paused',
  failed: 'Import failed',
  canceled: 'Import canceled',
};

function factsOf(dataImport: Import) {
  const {
    kind,
    size_bytes: size,
    created_at: at,
    created_by: by,
    ended_at: ended,
    is_live: isLive,
  } = dataImport;
  return [
    { label: 'Type', value: KINDS[kind] },
    ...(size === null ? [] : [{ label: 'Size', value: sizeOf(size) }]),
    { label: 'Started', value: <When at={at} /> },
    { label: 'By', value: by ?? 'a command' },
    ...(ended === null ? [] : [{ label: 'Ended', value: <When at={ended} /> }]),
    ...(isLive ? [{ label: 'Events', value: 'imported as live: rules fire' }] : []),
  ];
}
