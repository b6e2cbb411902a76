import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AudienceDetails, PredicateFacts } from '@beckon/contract/dashboard';
import { type ApiError, useApi, useChange, useMay, useProject, useRefresh } from '../../api/index.ts';
import { type Edited, ErrorBox, SaveBar, notify, useEdited } from '../../parts/index.ts';
import { PredicateEditor } from '../../parts/predicate/index.ts';
import { Preview } from './preview.tsx';
import { usePreview } from './use-preview.ts';

const START = { all: [{ trait: 'plan', equals: 'trial' }] };
const NO_FACTS: PredicateFacts = { traits: [], events: [], audiences: [] };
const FRESH_MS = 60_000;

/** Edits name and definition, with a live preview of the members. Null: a new audience. */
export function Editor({ audience }: { audience: AudienceDetails | null }): ReactNode {
  const mayEdit = useMay('editor');
  const facts = useApi('GET /projects/:project/predicate-facts', {}, { staleTimeMs: FRESH_MS });
  const start = startOf(audience);
  const edited = useEditorInput(audience, start);
  const { value: input, change, base } = edited;
  const { name, definition } = input;
  const preview = usePreview(definition, audience?.id);
  const { save, isSaving, error, discard } = useSave(audience, edited);
  const isDirty = JSON.stringify(input) !== JSON.stringify(start);
  return (
    <Stack gap="md" maw={900}>
      {isDirty && audience !== null && base !== audience.updated_at && <SavedMeanwhile />}
      <TextInput
        label="Name"
        value={name}
        onChange={({ currentTarget }) => change({ ...input, name: currentTarget.value })}
        readOnly={!mayEdit}
        maxLength={100}
        error={error?.fields['name']}
        maw={420}
      />
      <div role="group" aria-label="Definition">
        <Text size="sm" fw={500} mb={4}>
          {' '}
          Definition
        </Text>
        <PredicateEditor
          value={definition}
          onChange={(next) => change({ ...input, definition: next })}
          facts={facts.data?.data ?? NO_FACTS}
          faults={faultsIn(preview.error, error)}
          readOnly={!mayEdit}
        />
      </div>
      <Preview preview={preview} isNew={audience === null} />
      {error && error.field !== 'name' && <ErrorBox error={error} title={titleOf(error)} />}
      {mayEdit && (
        <Buttons
          audience={audience}
          isDirty={isDirty}
          isSaving={isSaving}
          onSave={save}
          onDiscard={discard}
        />
      )}
    </Stack>
  );
}

/** Typed text survives a change of the tab and a reload. A project keeps one new audience. */
function useEditorInput(audience: AudienceDetails | null, start: EditorInput): Edited<EditorInput> {
  const { id: project } = useProject();
  const key = audience === null ? `new-audience:${project}` : `audience:${audience.id}`;
  return useEdited(key, start, audience?.updated_at ?? '');
}

/** Typed text stays. Saving is refused, so that another member's change is not lost. */
function SavedMeanwhile(): ReactNode {
  return (
    <Alert color="orange.9" title="This audience changed while you were editing">
      Your changes are still here. Discard them to see the saved version.
    </Alert>
  );
}

function titleOf({ code }: ApiError): string {
  return code === 'conflict' ? 'Another member saved first' : 'Audience not saved';
}

function startOf(audience: AudienceDetails | null): EditorInput {
  return audience === null
    ? { name: '', definition: START }
    : { name: audience.name, definition: audience.definition };
}

/** Shows an error once if preview and save both report it. */
function faultsIn(...errors: (ApiError | null)[]): ApiError['errors'] {
  const all = errors.flatMap((error) => error?.errors ?? []);
  return [...new Map(all.map((fault) => [`${fault.field} ${fault.message}`, fault])).values()];
}

type ButtonsProps = {
  audience: AudienceDetails | null;
  isDirty: boolean;
  isSaving: boolean;
  onSave: () => void;
  onDiscard: () => void;
};

function Buttons({ audience, isDirty, isSaving, onSave, onDiscard }: ButtonsProps): ReactNode {
  if (audience !== null)
    return <SaveBar dirty={isDirty} saving={isSaving} onSave={onSave} onDiscard={onDiscard} />;
  return (
    <Group>
      <Button onClick={onSave} loading={isSaving}>
        Create audience
      </Button>
    </Group>
  );
}

type EditorInput = { name: string; definition: unknown };
type SaveState = { save: () => void; discard: () => void; isSaving: boolean; error: ApiError | null };

const LISTS = ['GET /projects/:project/audiences', 'GET /projects/:project/audiences/:audience'] as const;

function useSave(audience: AudienceDetails | null, edited: Edited<EditorInput>): SaveState {
  const { value, base, forget } = edited;
  const project = String(useProject().id);
  const navigate = useNavigate();
  const refresh = useRefresh();
  const create = useChange('POST /projects/:project/audiences', {
    refreshes: [...LISTS],
    onDone: ({ data: { id } }) => {
      forget();
      void navigate({ to: '/p/$project/audiences/$audience', params: { project, audience: id } });
    },
  });
  const edit = useChange('PATCH /projects/:project/audiences/:audience', {
    refreshes: [...LISTS],
    async onDone({ data }) {
      // Later edits start from the version saved now.
      await refresh('GET /projects/:project/audiences/:audience');
      forget();
      notify(data.state === 'ready' ? 'Saved' : 'Saved. Its members are being built.');
    },
  });
  if (audience === null)
    return {
      save: () => create.mutate({ body: value }),
      discard: forget,
      isSaving: create.isPending,
      error: create.error,
    };
  const { id } = audience;
  return {
    discard() {
      forget();
      edit.reset();
    },
    save: () => edit.mutate({ params: { audience: id }, body: { ...value, updated_at: base } }),
    isSaving: edit.isPending,
    error: edit.error,
  };
}
