import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { BulkAct, BulkAsked, BulkPreview } from '@beckon/contract/dashboard';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { ApiError, useCall } from '../../api/index.ts';
import { ErrorBox, formatCount, Lines } from '../../parts/index.ts';
import type { Wanted } from './bulk.tsx';

type Acted = { ids: string[]; act: BulkAct; refused: number };

export type BulkDialogProps = {
  wanted: Wanted | null;
  /** For those that are chosen by the filter alone. */
  filter: string;
  onClose: () => void;
  onActed: (acted: Acted) => void;
};

const TITLES: Record<BulkAct['kind'], string> = { approve: 'Approve', skip: 'Skip', postpone: 'Put off' };

/** What would come of it, before it is done. */
export function BulkDialog(props: BulkDialogProps): ReactNode {
  const { wanted, onClose } = props;
  return (
    <Modal opened={wanted !== null} onClose={onClose} title={wanted ? `${TITLES[wanted.act.kind]} many` : ''}>
      {wanted && <Effects {...props} wanted={wanted} />}
    </Modal>
  );
}

/** So many go in one request, so that the page can tell how far it is. */
const CHUNK = 50;

function Effects({ wanted, filter, onClose, onActed }: BulkDialogProps & { wanted: Wanted }): ReactNode {
  const { preview, fault } = usePreview(wanted, filter);
  const run = useRun(wanted, filter);
  const confirm = useRef<HTMLButtonElement>(null);
  const isReady = preview !== null;
  useEffect(() => {
    if (isReady) confirm.current?.focus();
  }, [isReady]);
  if (fault) return <ErrorBox error={fault} />;
  if (!preview) return <Lines count={5} />;
  const start = async (): Promise<void> => {
    const acted = await run.start();
    if (!acted) return;
    onActed({ ...acted, act: wanted.act });
    onClose();
  };
  return (
    <Stack gap="md">
      <EffectWords preview={preview} act={wanted.act} />
      {run.fault && <ErrorBox error={run.fault} title="It stopped there" />}
      <Group justify="flex-end" gap="xs">
        <Text size="sm" c="dimmed" role="status">
          {run.isRunning ? `${formatCount(run.done)} done` : ''}
        </Text>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          ref={confirm}
          loading={run.isRunning}
          disabled={preview.would_act === 0}
          onClick={() => void start()}
        >
          {TITLES[wanted.act.kind]} {formatCount(preview.would_act)}
        </Button>
      </Group>
    </Stack>
  );
}

function EffectWords({ preview, act }: { preview: BulkPreview; act: BulkAct }): ReactNode {
  const { drafts, more, would_act: acts, people, refused, held_by: held, leaves_now: now, rules } = preview;
  return (
    <Stack gap={6} component="ul" m={0} pl="md" fz="sm">
      <li>
        <b>{formatCount(acts)}</b> of {formatCount(drafts)} {drafts === 1 ? 'letter' : 'letters'} to{' '}
        <b>{formatCount(people)}</b> {people === 1 ? 'person' : 'people'}
        {rules.length > 0 && `: ${rules.map(({ name, drafts: of }) => `${name} (${of})`).join(', ')}`}
      </li>
      {act.kind === 'approve' && acts > 0 && (
        <li>{formatCount(now)} would leave ten seconds later, as no gate holds them now</li>
      )}
      {held.map(({ reason, sentence, drafts: of }) => (
        <li key={reason}>
          {formatCount(of)} would wait on: {sentence}
        </li>
      ))}
      {refused.map(({ message, drafts: of }) => (
        <li key={message}>
          {formatCount(of)} stay as they are: {message}
        </li>
      ))}
      {more && <li>These are the first {formatCount(drafts)}; do it again for the rest.</li>}
    </Stack>
  );
}

function askedOf({ act, ids }: Wanted, filter: string): BulkAsked {
  return ids === null ? { act, filter } : { act, ids };
}

function usePreview(wanted: Wanted, filter: string): { preview: BulkPreview | null; fault: ApiError | null } {
  const call = useCall();
  const [found, setFound] = useState<{ preview: BulkPreview | null; fault: ApiError | null }>({
    preview: null,
    fault: null,
  });
  const ask = useRef({ call, body: askedOf(wanted, filter) });
  useEffect(() => {
    const ended = new AbortController();
    const { call: send, body } = ask.current;
    send('POST /projects/:project/drafts/bulk/preview', { body }, ended.signal).then(
      ({ data }) => setFound({ preview: data, fault: null }),
      (error: unknown) => {
        if (error instanceof ApiError) setFound({ preview: null, fault: error });
      },
    );
    return () => ended.abort();
  }, []);
  return found;
}

type Run = {
  start: () => Promise<Omit<Acted, 'act'> | null>;
  done: number;
  isRunning: boolean;
  fault: ApiError | null;
};

function useRun(wanted: Wanted, filter: string): Run {
  const call = useCall();
  const [state, setState] = useState<{ done: number; isRunning: boolean; fault: ApiError | null }>({
    done: 0,
    isRunning: false,
    fault: null,
  });
  return {
    ...state,
    async start() {
      const acted: string[] = [];
      let refused = 0;
      setState({ done: 0, isRunning: true, fault: null });
      try {
        for (const body of chunksOf(wanted, filter)) {
          const { data } = await call('POST /projects/:project/drafts/bulk', { body });
          acted.push(...data.acted.map(({ id }) => id));
          refused += data.refused.length;
          setState({ done: acted.length, isRunning: true, fault: null });
        }
        return { ids: acted, refused };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        setState({ done: acted.length, isRunning: false, fault: error });
        return acted.length > 0 ? { ids: acted, refused } : null;
      }
    },
  };
}

function chunksOf(wanted: Wanted, filter: string): BulkAsked[] {
  const { act, ids } = wanted;
  if (ids === null) return [askedOf(wanted, filter)];
  const count = Math.ceil(ids.length / CHUNK);
  return Array.from({ length: count }, (_, at) => ({ act, ids: ids.slice(at * CHUNK, (at + 1) * CHUNK) }));
}
