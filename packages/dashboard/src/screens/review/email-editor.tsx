import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import type { DraftListed, DraftWhole } from '@beckon/contract/dashboard';
import { type KeyboardEvent, type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { ApiError, useCall, useChange, useRefresh } from '../../api/index.ts';
import { ErrorBox, notify, Shortcut, useEdited, useKeys } from '../../parts/index.ts';
import { nameKey } from '../../parts/keys.ts';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { RichEditor } from '../../parts/rich-editor.tsx';
import { WordDiff } from '../../parts/word-diff.tsx';
import { keptAs, PARTS, type Typed } from './unsaved.tsx';
import { useBorrowedFocus } from './use-borrowed-focus.ts';
import { useOnLive } from './use-on-live.ts';

export type EmailEditorProps = {
  draft: DraftWhole;
  onClose: () => void;
  /** The server saved the edit as this row. `andApprove`: the member asked to approve it, too. */
  onSaved: (row: DraftListed, andApprove: boolean) => void;
};

/** Edits a draft in place. While the editor is open, the draft is not sent and no other member can edit it. */
export function EmailEditor({ draft, onClose, onSaved }: EmailEditorProps): ReactNode {
  const { content, content_hash: hash } = draft;
  const start: Typed = { subject: content.subject, preheader: content.preheader, body: content.body };
  const { value: typed, change: keep, forget, base } = useEdited<Typed>(keptAs(draft.id), start, hash);
  const lease = useLease(draft.id, draft.lease?.mine === false);
  const { isSaving, fault, send } = useSave(draft.id, (row, andApprove) => {
    forget();
    onSaved(row, andApprove);
  });
  const subject = useRef<HTMLInputElement>(null);
  useBorrowedFocus(subject, true);
  const isOther = base !== hash;
  // Saving reports whether the server is reachable.
  const isTheirs = lease?.status === 409;
  const change = (part: Partial<Typed>): void => keep({ ...typed, ...part });
  const canApprove = draft.user.email !== null;
  const save = (andApprove: boolean): void => {
    if (!isTheirs && (canApprove || !andApprove)) send({ ...typed, hash }, andApprove);
  };
  const onKey = useSaveKeys(save);
  return (
    <Stack gap="sm" component="section" aria-label="Draft editor" onKeyDownCapture={onKey}>
      {lease !== null && <ErrorBox error={lease} title="The editor could not be opened" />}
      {isOther && <Changed theirs={start} mine={typed} onTake={forget} />}
      {fault && !fault.field && <ErrorBox error={fault} title="Not saved" />}
      <TextInput
        label="Subject"
        value={typed.subject}
        onChange={(event) => change({ subject: event.currentTarget.value })}
        error={fault?.fields.subject}
        ref={subject}
      />
      <TextInput
        label="Preview text"
        description="Shown after the subject in the inbox"
        value={typed.preheader}
        onChange={(event) => change({ preheader: event.currentTarget.value })}
        error={fault?.fields.preheader}
      />
      <Body
        format={content.format}
        value={typed.body}
        onChange={(body) => change({ body })}
        fault={fault?.fields.body}
      />
      <Foot
        isOther={isOther}
        isSaving={isSaving}
        isTheirs={isTheirs}
        canApprove={canApprove}
        onSave={save}
        onClose={onClose}
        onDiscard={() => {
          forget();
          onClose();
        }}
      />
    </Stack>
  );
}

type FootProps = {
  isOther: boolean;
  isSaving: boolean;
  isTheirs: boolean;
  /** False if the user has no email address. */
  canApprove: boolean;
  onSave: (andApprove: boolean) => void;
  onClose: () => void;
  onDiscard: () => void;
};

function Foot({ isOther, isSaving, isTheirs, canApprove, onSave, onClose, onDiscard }: FootProps): ReactNode {
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="subtle" color="gray" onClick={onDiscard}>
        Discard
      </Button>
      <Button variant="default" onClick={onClose}>
        Close and keep changes
      </Button>
      <Button variant="default" disabled={isTheirs || isSaving || !canApprove} onClick={() => onSave(true)}>
        {isOther ? 'Overwrite and approve' : 'Save and approve'}
        <span aria-hidden="true" style={{ marginLeft: 8 }}>
          <Shortcut keys="Mod+Enter" />
        </span>
      </Button>
      <Button loading={isSaving} disabled={isTheirs} onClick={() => onSave(false)}>
        {isOther ? 'Overwrite' : 'Save'}
      </Button>
    </Group>
  );
}

type BodyProps = {
  format: DraftWhole['content']['format'];
  value: string;
  onChange: (body: string) => void;
  fault: string | undefined;
};

/** An email with its own HTML layout is edited as code. */
function Body({ format, ...props }: BodyProps): ReactNode {
  if (format === 'html') return <CodeEditor {...props} language="html" label="Body as HTML" height="420px" />;
  return <RichEditor {...props} label="Body" />;
}

/** Another member saved since the editor opened. The typed text stays until the member decides. */
function Changed({ theirs, mine, onTake }: { theirs: Typed; mine: Typed; onTake: () => void }): ReactNode {
  const parts = PARTS.filter(([part]) => theirs[part] !== mine[part]);
  return (
    <Alert color="yellow" variant="outline" title="This draft changed while you were editing">
      <Stack gap="xs">
        <Text size="sm">Your text is kept. Differences from the saved version:</Text>
        {parts.map(([part, name]) => (
          <WordDiff
            key={part}
            before={theirs[part]}
            after={mine[part]}
            label={`${name}: your text compared with the saved version`}
          />
        ))}
        <Group>
          <Button size="compact-sm" variant="default" onClick={onTake}>
            Discard my changes
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}

const RENEW_MS = 4 * 60_000;

/**
 * Locks the draft while the editor is open; returns the error if that failed. A lock that another member releases is taken at
 * once, and so is one that failed while the server was unreachable.
 */
function useLease(draft: string, isTheirs: boolean): ApiError | null {
  const call = useCall();
  const refresh = useRefresh();
  const [fault, setFault] = useState<ApiError | null>(null);
  const hold = useEffectEvent((id: string) => {
    enqueue(() =>
      call('POST /projects/:project/drafts/:draft/open-editor', { params: { draft: id }, body: {} }),
    ).then(
      () => setFault(null),
      (error: unknown) => error instanceof ApiError && setFault(error),
    );
  });
  const letGo = useEffectEvent((id: string) => {
    // An editor that is closed or was never opened needs no call.
    const after = (): void => void refresh('GET /projects/:project/drafts/:draft');
    enqueue(() =>
      call('POST /projects/:project/drafts/:draft/close-editor', { params: { draft: id }, body: {} }),
    ).then(after, after);
  });
  useEffect(() => hold(draft), [draft, isTheirs]);
  useOnLive(() => hold(draft));
  useEffect(() => {
    const timer = setInterval(() => hold(draft), RENEW_MS);
    return () => {
      clearInterval(timer);
      letGo(draft);
    };
  }, [draft]);
  return fault;
}

let queue: Promise<unknown> = Promise.resolve();

/** Closing and reopening at once must reach the server in this order. */
function enqueue<T>(send: () => Promise<T>): Promise<T> {
  const sent = queue.then(send, send);
  queue = sent;
  return sent;
}

type SaveState = {
  send: (body: Typed & { hash: string }, andApprove: boolean) => void;
  isSaving: boolean;
  fault: ApiError | null;
};

/** Saves the edit. Its response is shown at once; the preview and the versions are loaded again. */
function useSave(draft: string, onSaved: EmailEditorProps['onSaved']): SaveState {
  const andApprove = useRef(false);
  const edit = useChange('POST /projects/:project/drafts/:draft/edit', {
    writes(cache, { data }) {
      cache.change('GET /projects/:project/drafts/:draft', (before) =>
        before.data.id === draft
          ? { data: { ...before.data, ...data.draft, content: data.content } }
          : before,
      );
    },
    refreshes: [
      'GET /projects/:project/drafts/:draft',
      'GET /projects/:project/drafts/:draft/preview',
      'GET /projects/:project/drafts/:draft/versions',
    ],
    onDone({ data }) {
      if (!andApprove.current) notify('Saved. The email will be sent in 15 minutes at the earliest.');
      onSaved(data.draft, andApprove.current);
    },
  });
  return {
    isSaving: edit.isPending,
    fault: edit.error,
    send(body, approves) {
      if (edit.isPending) return;
      andApprove.current = approves;
      edit.mutate({ params: { draft }, body });
    },
  };
}

const SAVE_AND_APPROVE = 'Mod+Enter';

/** Returns a handler for keys in the editor: its text fields would handle Ctrl+Enter themselves. */
function useSaveKeys(save: (andApprove: boolean) => void): (event: KeyboardEvent) => void {
  useKeys('Editor', {
    'Mod+s': { label: 'Save', run: () => save(false) },
    [SAVE_AND_APPROVE]: { label: 'Save and approve', run: () => save(true) },
  });
  return (event) => {
    if (nameKey(event) !== SAVE_AND_APPROVE) return;
    event.preventDefault();
    event.stopPropagation();
    save(true);
  };
}
