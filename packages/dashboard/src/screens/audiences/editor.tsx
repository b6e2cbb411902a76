import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { AudienceShown, PredicateFacts } from '@beckon/contract/dashboard';
import { type ApiError, useApi, useChange, useMay, useProject } from '../../api/index.ts';
import { ErrorBox, refused, SaveBar, told } from '../../parts/index.ts';
import { PredicateEditor } from '../../parts/predicate/index.ts';
import { Preview } from './preview.tsx';
import { usePreview } from './use-preview.ts';

const START = { all: [{ trait: 'plan', equals: 'trial' }] };
const NO_FACTS: PredicateFacts = { traits: [], events: [], audiences: [] };
const FRESH_MS = 60_000;

/** A name and a definition, with whom it means as it is typed. Null: one that is not there yet. */
export function Editor({ audience }: { audience: AudienceShown | null }): ReactNode {
  const mayEdit = useMay('editor');
  const facts = useApi('GET /projects/:project/predicate-facts', {}, { staleTimeMs: FRESH_MS });
  const start = startOf(audience);
  const [wanted, setWanted] = useState(start);
  const { name, definition } = wanted;
  const preview = usePreview(definition, audience?.id);
  const { save, isSaving, error } = useSaving(audience);
  return (
    <Stack gap="md" maw={900}>
      <TextInput
        label="Name"
        value={name}
        onChange={({ currentTarget }) => setWanted({ ...wanted, name: currentTarget.value })}
        readOnly={!mayEdit}
        maxLength={100}
        error={error?.fields['name']}
        maw={420}
      />
      <div role="group" aria-label="Who is meant">
        <Text size="sm" fw={500} mb={4}>
          Who is meant
        </Text>
        <PredicateEditor
          value={definition}
          onChange={(next) => setWanted((was) => ({ ...was, definition: next }))}
          facts={facts.data?.data ?? NO_FACTS}
          faults={faultsIn(preview.error, error)}
          readOnly={!mayEdit}
        />
      </div>
      <Preview preview={preview} isNew={audience === null} />
      {error && error.field !== 'name' && <ErrorBox error={error} title="It was not saved" />}
      {mayEdit && (
        <Buttons
          audience={audience}
          isDirty={JSON.stringify(wanted) !== JSON.stringify(start)}
          isSaving={isSaving}
          onSave={() => save(wanted)}
          onDiscard={() => setWanted(start)}
        />
      )}
    </Stack>
  );
}

function startOf(audience: AudienceShown | null): Wanted {
  return audience === null
    ? { name: '', definition: START }
    : { name: audience.name, definition: audience.definition };
}

/** What both say is said once: a definition that cannot be counted cannot be saved either. */
function faultsIn(...errors: (ApiError | null)[]): ApiError['errors'] {
  const all = errors.flatMap((error) => error?.errors ?? []);
  return [...new Map(all.map((fault) => [`${fault.field} ${fault.message}`, fault])).values()];
}

type ButtonsProps = {
  audience: AudienceShown | null;
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
        Make it
      </Button>
    </Group>
  );
}

type Wanted = { name: string; definition: unknown };
type Saving = { save: (wanted: Wanted) => void; isSaving: boolean; error: ApiError | null };

const LISTS = ['GET /projects/:project/audiences', 'GET /projects/:project/audiences/:audience'] as const;

function useSaving(audience: AudienceShown | null): Saving {
  const project = String(useProject().id);
  const navigate = useNavigate();
  const create = useChange('POST /projects/:project/audiences', {
    refreshes: [...LISTS],
    onDone: ({ data: { id } }) =>
      void navigate({ to: '/p/$project/audiences/$audience', params: { project, audience: id } }),
  });
  const edit = useChange('PATCH /projects/:project/audiences/:audience', {
    refreshes: [...LISTS],
    onDone: ({ data }) => told(data.state === 'ready' ? 'Saved' : 'Saved; its members are being built'),
    onRefused: (error) => error.code === 'conflict' && refused(error, 'Somebody else was faster'),
  });
  if (audience === null)
    return { save: (body) => create.mutate({ body }), isSaving: create.isPending, error: create.error };
  const { id, updated_at } = audience;
  return {
    save: (body) => edit.mutate({ params: { audience: id }, body: { ...body, updated_at } }),
    isSaving: edit.isPending,
    error: edit.error,
  };
}
