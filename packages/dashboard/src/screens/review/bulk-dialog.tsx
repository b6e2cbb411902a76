import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { BulkAct, BulkInput, BulkPreview } from '@beckon/contract/dashboard';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { ApiError, useCall } from '../../api/index.ts';
import { ErrorBox, formatCount, Lines } from '../../parts/index.ts';
import type { BulkRequest } from './bulk.tsx';
import { chunksOf, runChunks } from './bulk-run.ts';
import type { Acted } from './use-bulk.ts';

export type BulkDialogProps = {
  request: BulkRequest | null;
  /** For drafts that are selected by the filter only. */
  filter: string;
  onClose: () => void;
  onActed: (acted: Acted) => void;
};

const TITLES: Record<BulkAct['kind'], string> = { approve: 'Approve', skip: 'Skip', postpone: 'Postpone' };

/** Shows the effect before the action runs. */
export function BulkDialog(rawProps: BulkDialogProps): ReactNode {
  const { request, onClose } = rawProps;
  const props = { ...rawProps, filter: request?.filter ?? rawProps.filter };
  // After closing, the result of requests in flight is still shown as a notification.
  const latest = useRef(props.onActed);
  useEffect(() => {
    latest.current = props.onActed;
  });
  return (
    <Modal
      opened={request !== null}
      onClose={onClose}
      title={
        request
          ? `${TITLES[request.act.kind]} ${request.filter === undefined ? 'selected' : 'similar'} drafts`
          : ''
      }
    >
      {request && <Effects {...props} request={request} onActed={(acted) => latest.current(acted)} />}
    </Modal>
  );
}

function Effects({
  request,
  filter,
  onClose,
  onActed,
}: BulkDialogProps & { request: BulkRequest }): ReactNode {
  const { preview, fault } = usePreview(request, filter);
  const run = useRun({ request, filter, onActed, onDone: onClose });
  const confirm = useRef<HTMLButtonElement>(null);
  const isReady = preview !== null;
  useEffect(() => {
    if (isReady) confirm.current?.focus();
  }, [isReady]);
  if (fault) return <ErrorBox error={fault} />;
  if (!preview) return <Lines count={5} />;
  return (
    <Stack gap="md">
      <EffectWords preview={preview} act={request.act} />
      {run.fault && <ErrorBox error={run.fault} title="Not all drafts were processed" />}
      <Group justify="flex-end" gap="xs">
        <Text size="sm" c="dimmed" role="status">
          {run.isRunning ? `${formatCount(run.doneCount)} processed` : ''}
        </Text>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          ref={confirm}
          loading={run.isRunning}
          disabled={preview.would_change === 0}
          onClick={() => void run.start()}
        >
          {run.isBegun
            ? 'Continue with the rest'
            : `${TITLES[request.act.kind]} ${formatCount(preview.would_change)}`}
        </Button>
      </Group>
    </Stack>
  );
}

function EffectWords({ preview, act }: { preview: BulkPreview; act: BulkAct }): ReactNode {
  const {
    drafts,
    more,
    would_change: acts,
    users: people,
    unchanged,
    held_by: held,
    sends_now: now,
    rules,
  } = preview;
  return (
    <Stack gap={6} component="ul" m={0} pl="md" fz="sm">
      <li>
        <b>{formatCount(acts)}</b> of {formatCount(drafts)} {drafts === 1 ? 'draft' : 'drafts'} to{' '}
        <b>{formatCount(people)}</b> {people === 1 ? 'user' : 'users'}
        {rules.length > 0 && `: ${rules.map(({ name, drafts: of }) => `${name} (${of})`).join(', ')}`}
      </li>
      {act.kind === 'approve' && acts > 0 && (
        <li>
          {formatCount(now)} would be sent ten seconds after approval, because they pass all send checks
        </li>
      )}
      {held.map(({ reason, sentence, drafts: of }) => (
        <li key={reason}>
          {formatCount(of)} would be held: {sentence}
        </li>
      ))}
      {unchanged.map(({ message, drafts: of }) => (
        <li key={message}>
          {formatCount(of)} would not change: {message}
        </li>
      ))}
      {more && <li>These are the first {formatCount(drafts)} drafts. Repeat the action for the rest.</li>}
    </Stack>
  );
}

function usePreview(
  request: BulkRequest,
  filter: string,
): { preview: BulkPreview | null; fault: ApiError | null } {
  const call = useCall();
  const [found, setFound] = useState<{ preview: BulkPreview | null; fault: ApiError | null }>({
    preview: null,
    fault: null,
  });
  const { act, ids } = request;
  const latestCall = useRef({ call, body: ids === null ? { action: act, filter } : { action: act, ids } });
  useEffect(() => {
    const ended = new AbortController();
    const { call: send, body } = latestCall.current;
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

type RunOptions = Pick<BulkDialogProps, 'filter' | 'onActed'> & { request: BulkRequest; onDone: () => void };
type RunState = { doneCount: number; isBegun: boolean; isRunning: boolean; fault: ApiError | null };

/** Continues after an error where it stopped. Closing the dialog sends no further requests. */
function useRun({ request, filter, onActed, onDone }: RunOptions): RunState & { start: () => Promise<void> } {
  const call = useCall();
  const [state, setState] = useState<RunState>({
    doneCount: 0,
    isBegun: false,
    isRunning: false,
    fault: null,
  });
  const left = useRef<BulkInput[]>(null);
  const isClosed = useRef(false);
  useEffect(() => {
    isClosed.current = false;
    return () => {
      isClosed.current = true;
    };
  }, []);
  return {
    ...state,
    async start() {
      setState((was) => ({ ...was, isRunning: true, fault: null }));
      const run = await runChunks(left.current ?? chunksOf(request, filter), {
        send: async (body) => (await call('POST /projects/:project/drafts/bulk', { body })).data,
        isEnded: () => isClosed.current,
        onStep: (acted) => setState((was) => ({ ...was, isBegun: true, doneCount: was.doneCount + acted })),
      });
      left.current = run.left;
      setState((was) => ({ ...was, isRunning: false, fault: run.fault }));
      if (run.processedIds?.length !== 0) onActed({ ...run, act: request.act });
      if (run.left.length === 0 && !isClosed.current) onDone();
    },
  };
}
