import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import type { DraftWhole } from '@beckon/contract/dashboard';
import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { ApiError, useCall, useRefresh } from '../../api/index.ts';
import { ErrorBox, told, useEdited, useKeys } from '../../parts/index.ts';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { RichEditor } from '../../parts/rich-editor.tsx';
import { WordDiff } from '../../parts/word-diff.tsx';
import { keptAs, PARTS, type Typed } from './unsaved.tsx';
import { useBorrowedFocus } from './use-borrowed-focus.ts';
import { useOnLive } from './use-on-live.ts';

export type LetterEditorProps = { draft: DraftWhole; onClose: () => void; onSaved: (id: string) => void };

/** Writes a letter anew, in place. While it is open nothing leaves and nobody else touches it. */
export function LetterEditor({ draft, onClose, onSaved }: LetterEditorProps): ReactNode {
  const { content, content_hash: hash } = draft;
  const start: Typed = { subject: content.subject, preheader: content.preheader, body: content.body };
  const { value: typed, change: keep, forget, base } = useEdited<Typed>(keptAs(draft.id), start, hash);
  const lease = useLease(draft.id, draft.lease?.mine === false);
  const saving = useSaving(draft.id);
  const subject = useRef<HTMLInputElement>(null);
  useBorrowedFocus(subject, true);
  const isOther = base !== hash;
  // Whether the server was reached is for the saving to find out.
  const isTheirs = lease?.status === 409;
  const change = (part: Partial<Typed>): void => keep({ ...typed, ...part });
  const save = async (over: string): Promise<void> => {
    if (!(await saving.save({ ...typed, hash: over }))) return;
    forget();
    told('Saved. It leaves no sooner than in a quarter of an hour.');
    onSaved(draft.id);
    onClose();
  };
  useKeys('Editor', { 'Mod+s': { label: 'Save', run: () => !isTheirs && void save(hash) } });
  return (
    <Stack gap="sm" component="section" aria-label="Editor of the letter">
      {lease !== null && <ErrorBox error={lease} title="The editor could not be opened" />}
      {isOther && <Changed theirs={start} mine={typed} onTake={forget} />}
      {saving.fault && !saving.fault.field && <ErrorBox error={saving.fault} title="Not saved" />}
      <TextInput
        label="Subject"
        value={typed.subject}
        onChange={(event) => change({ subject: event.currentTarget.value })}
        error={saving.fault?.fields.subject}
        ref={subject}
      />
      <TextInput
        label="Preview line"
        description="What inboxes show behind the subject"
        value={typed.preheader}
        onChange={(event) => change({ preheader: event.currentTarget.value })}
        error={saving.fault?.fields.preheader}
      />
      <Body
        format={content.format}
        value={typed.body}
        onChange={(body) => change({ body })}
        fault={saving.fault?.fields.body}
      />
      <Foot
        isOther={isOther}
        isSaving={saving.isSaving}
        isTheirs={isTheirs}
        onSave={() => void save(hash)}
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
  onSave: () => void;
  onClose: () => void;
  onDiscard: () => void;
};

function Foot({ isOther, isSaving, isTheirs, onSave, onClose, onDiscard }: FootProps): ReactNode {
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="subtle" color="gray" onClick={onDiscard}>
        Discard
      </Button>
      <Button variant="default" onClick={onClose}>
        Close, keep what I typed
      </Button>
      <Button loading={isSaving} disabled={isTheirs} onClick={onSave}>
        {isOther ? 'Save mine over it' : 'Save'}
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

/** A page that was laid out by itself is written as code. */
function Body({ format, ...props }: BodyProps): ReactNode {
  if (format === 'html')
    return <CodeEditor {...props} language="html" label="Letter, as HTML" height="420px" />;
  return <RichEditor {...props} label="Letter" />;
}

/** Somebody else wrote it meanwhile. What was typed here stays until whoever typed it decides. */
function Changed({ theirs, mine, onTake }: { theirs: Typed; mine: Typed; onTake: () => void }): ReactNode {
  const parts = PARTS.filter(([part]) => theirs[part] !== mine[part]);
  return (
    <Alert color="yellow" variant="outline" title="This letter was written anew since you began">
      <Stack gap="xs">
        <Text size="sm">What you typed is kept. This is how yours differs from how it stands now:</Text>
        {parts.map(([part, name]) => (
          <WordDiff
            key={part}
            before={theirs[part]}
            after={mine[part]}
            label={`${name}: how yours differs from the present one`}
          />
        ))}
        <Group>
          <Button size="compact-sm" variant="default" onClick={onTake}>
            Let go of mine, and begin with theirs
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}

const RENEW_MS = 4 * 60_000;

/**
 * Holds the draft as long as the editor is open; the fault, where that did not work. What somebody else lets go of is taken at
 * once, and so is what could not be asked for while the server was away.
 */
function useLease(draft: string, isTheirs: boolean): ApiError | null {
  const call = useCall();
  const refresh = useRefresh();
  const [fault, setFault] = useState<ApiError | null>(null);
  const hold = useEffectEvent((id: string) => {
    inTurn(() =>
      call('POST /projects/:project/drafts/:draft/open-editor', { params: { draft: id }, body: {} }),
    ).then(
      () => setFault(null),
      (error: unknown) => error instanceof ApiError && setFault(error),
    );
  });
  const letGo = useEffectEvent((id: string) => {
    // One that is closed already, or was never opened, is closed.
    const after = (): void => void refresh('GET /projects/:project/drafts/:draft');
    inTurn(() =>
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

let turn: Promise<unknown> = Promise.resolve();

/** An editor that is closed and opened again at once must not come to the server the other way round. */
function inTurn<T>(send: () => Promise<T>): Promise<T> {
  const sent = turn.then(send, send);
  turn = sent;
  return sent;
}

type Saving = {
  save: (typed: Typed & { hash: string }) => Promise<boolean>;
  fault: ApiError | null;
  isSaving: boolean;
};

function useSaving(draft: string): Saving {
  const call = useCall();
  const refresh = useRefresh();
  const [fault, setFault] = useState<ApiError | null>(null);
  const [isSaving, setSaving] = useState(false);
  return {
    fault,
    isSaving,
    async save(typed) {
      setSaving(true);
      setFault(null);
      try {
        await call('POST /projects/:project/drafts/:draft/edit', { params: { draft }, body: typed });
        await refresh(
          'GET /projects/:project/drafts/:draft',
          'GET /projects/:project/drafts/:draft/preview',
          'GET /projects/:project/drafts/:draft/versions',
        );
        return true;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        setFault(error);
        if (error.status === 409) void refresh('GET /projects/:project/drafts/:draft');
        return false;
      } finally {
        setSaving(false);
      }
    },
  };
}
