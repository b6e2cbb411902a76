import type { DeadLetter, DiscardReason } from '@beckon/contract/dashboard';
import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { CircleCheck } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { apiUrl, type ReadKey, useApiInfinite, useChange, useMay, useProject } from '../../api/index.ts';
import {
  type Column,
  DataTable,
  Empty,
  type Failed,
  formatCount,
  Json,
  Page,
  refused,
  SidePanel,
  When,
} from '../../parts/index.ts';
import { notifyBulk } from '../../parts/bulk-result.ts';
import type { DisplayProps } from '../../parts/display-menu.tsx';
import { ListBar } from '../../parts/list-bar.tsx';
import { useListLook } from '../../parts/list-look.ts';
import { Muted } from '../../parts/muted.tsx';
import { DialogAction } from '../../parts/dialog-action.tsx';
import { ActButton } from '../../parts/act-button.tsx';

const route = getRouteApi('/p/$project/dead-letters');

const FOLLOWS: ReadKey[] = [
  'GET /projects/:project/dead-letters',
  'GET /projects/:project/system',
  'GET /projects/:project/counts',
];

const REFRESHED = { keep: true, everyMs: 15_000 };

/** Dead-lettered records: accepted but not processed. They block no other records, and wait for a member. */
export function DeadLettersScreen(): ReactNode {
  const may = useMay('admin');
  const { filter } = route.useSearch();
  const query = { filter };
  const list = useApiInfinite('GET /projects/:project/dead-letters', { query }, REFRESHED);
  const { look, setLook } = useListLook('dead_letters');
  const [chosen, setChosen] = useState(new Set<string>());
  const [opened, setOpened] = useState<string>();
  const [isDiscarding, setIsDiscarding] = useState(false);
  const { rows } = list;
  const seqs = rows.flatMap(({ seq }) => (chosen.has(String(seq)) ? [seq] : []));
  const clearChosen = (): void => setChosen(new Set());
  const open = rows.find(({ seq }) => String(seq) === opened);
  return (
    <Page title="Dead-lettered records">
      {(rows.length > 0 || filter !== undefined) && (
        <Tools fault={list.error} display={{ look, setLook, columns: COLUMNS }} onFilter={clearChosen}>
          {may && rows.length > 0 && (
            <Acts
              seqs={seqs}
              total={filter === undefined ? list.total : null}
              onDone={clearChosen}
              onDiscard={() => setIsDiscarding(true)}
            />
          )}
        </Tools>
      )}
      <DataTable
        label="Dead-lettered records"
        columns={COLUMNS}
        list={list}
        look={look}
        rowKey={({ seq }) => String(seq)}
        onOpen={setOpened}
        {...(may ? { chosen, onChosen: setChosen } : {})}
        empty={
          filter === undefined ? (
            <Empty icon={CircleCheck} title="No dead-lettered records">
              Accepted records that cannot be processed appear here, to retry or discard. They block no other
              records.
            </Empty>
          ) : (
            <Muted>No dead-lettered records match this filter.</Muted>
          )
        }
      />
      <DiscardDialog
        opened={isDiscarding}
        seqs={seqs}
        onClose={() => setIsDiscarding(false)}
        onDone={clearChosen}
      />
      <SidePanel opened={open !== undefined} onClose={() => setOpened(undefined)} title="Record">
        {open && <Json value={open} what="record" />}
      </SidePanel>
    </Page>
  );
}

type ToolsProps = {
  fault: Failed | null;
  display: DisplayProps;
  onFilter: () => void;
  children: ReactNode;
};

function Tools({ fault, display, onFilter, children }: ToolsProps): ReactNode {
  const { filter } = route.useSearch();
  const navigate = route.useNavigate();
  const { id: project } = useProject();
  const csv = apiUrl('GET /projects/:project/dead-letters.csv', { params: { project }, query: { filter } });
  return (
    <ListBar
      list="dead_letters"
      label="Filter dead-lettered records"
      filter={filter}
      onFilter={(next) => {
        onFilter();
        void navigate({ search: (was) => ({ ...was, filter: next }), replace: true });
      }}
      fault={fault}
      display={display}
      csv={useMay('admin') ? csv : undefined}
    >
      {children}
    </ListBar>
  );
}

/** `total`: the number of all records; null while a filter hides some, because then only selected ones are changed. */
type ActsProps = { seqs: number[]; total: number | null; onDone: () => void; onDiscard: () => void };

function Acts({ seqs, total, onDone, onDiscard }: ActsProps): ReactNode {
  const retry = useChange('POST /projects/:project/dead-letters/retry', {
    refreshes: FOLLOWS,
    onDone: ({ data: { retried } }) => {
      const gone = Math.max(0, seqs.length - retried);
      notifyBulk({ done: retried, ...QUEUED, refused: gone > 0 ? [{ message: GONE, rows: gone }] : [] });
      onDone();
    },
    onRefused: (error) => refused(error),
  });
  const isAll = seqs.length === 0;
  return (
    <Group gap="xs">
      <ActButton
        change={retry}
        size="sm"
        disabled={isAll && total === null}
        onClick={() => retry.mutate({ body: isAll ? {} : { seqs } })}
      >
        {isAll ? `Retry all${total === null ? '' : ` ${formatCount(total)}`}` : `Retry ${seqs.length}`}
      </ActButton>
      <Button size="sm" variant="default" c="var(--mantine-color-error)" disabled={isAll} onClick={onDiscard}>
        {isAll ? 'Discard…' : `Discard ${seqs.length}…`}
      </Button>
    </Group>
  );
}

const GONE = 'The record is no longer dead-lettered';
const QUEUED = { one: 'record is in the queue again', many: 'records are in the queue again' };
const DISCARDED = { one: 'record discarded', many: 'records discarded' };

type DiscardProps = { opened: boolean; seqs: number[]; onClose: () => void; onDone: () => void };

function DiscardDialog({ opened, seqs, onClose, onDone }: DiscardProps): ReactNode {
  const [reason, setReason] = useState<DiscardReason | null>(null);
  const discard = useChange('POST /projects/:project/dead-letters/discard', {
    refreshes: FOLLOWS,
    onDone: ({ data: { discarded } }) => {
      const gone = seqs.length - discarded;
      notifyBulk({ done: discarded, ...DISCARDED, refused: gone > 0 ? [{ message: GONE, rows: gone }] : [] });
      setReason(null);
      onDone();
      onClose();
    },
  });
  return (
    <Modal opened={opened} onClose={onClose} title={`Discard ${seqs.length} records`}>
      <Stack gap="md">
        <Text size="sm">
          The records are deleted permanently. To have them processed, send them again. The audit log records
          your name and the reason.
        </Text>
        <Select
          data-autofocus
          label="Reason"
          data={DISCARD_CHOICES}
          value={reason}
          onChange={(value) => setReason(value as DiscardReason | null)}
          error={discard.error?.fields['reason']}
        />
        <DialogAction
          change={discard}
          run={() => reason !== null && discard.mutate({ body: { seqs, reason } })}
          onCancel={onClose}
          disabled={reason === null || seqs.length === 0}
          isDestructive
        >
          Discard
        </DialogAction>
      </Stack>
    </Modal>
  );
}

const DISCARDS: Record<DiscardReason, string> = {
  invalid_data: 'The data is invalid',
  sent_again: 'Corrected and sent again',
  test_data: 'Test data',
  other: 'Other',
};
const DISCARD_CHOICES = Object.entries(DISCARDS).map(([value, label]) => ({ value, label }));

const COLUMNS: Column<DeadLetter>[] = [
  { id: 'seq', title: 'Number', width: '90px', cell: ({ seq }) => seq },
  { id: 'kind', title: 'Kind', width: '90px', cell: ({ kind }) => kind },
  {
    id: 'reason',
    title: 'Reason',
    width: '3fr',
    cell: ({ reason }) => reason,
  },
  {
    id: 'at',
    title: 'Accepted',
    width: '150px',
    narrow: 'hide',
    cell: ({ accepted_at: at }) => <When at={at} />,
  },
];
