import { Button, Modal, Select, Stack, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { useChange, useRefresh } from '../../api/index.ts';
import { DialogFoot, ErrorBox } from '../../parts/index.ts';

const BROWSER_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const ZONES = [...new Set(['UTC', BROWSER_ZONE, ...Intl.supportedValuesOf('timeZone')])];

type Organisation = { id: string; name: string };
type NewProjectProps = { organisations: Organisation[]; onClose: () => void };

/** A name is enough, and whose it is where that could be several; the zone is that of the browser, unless another is chosen. */
export function NewProject({ organisations, onClose }: NewProjectProps): ReactNode {
  const navigate = useNavigate();
  const refresh = useRefresh();
  const [name, setName] = useState('');
  const [organisation, setOrganisation] = useState(
    organisations.length === 1 ? organisations[0]?.id : undefined,
  );
  const [zone, setZone] = useState(BROWSER_ZONE);
  const create = useChange('POST /projects', {
    onDone: async ({ data }) => {
      // The frame of a project looks for it among those that were read.
      await refresh('GET /projects');
      await navigate({ to: '/p/$project/home', params: { project: String(data.id) } });
    },
  });
  const { fields = {} } = create.error ?? {};
  const isElsewhere = create.error !== null && !hasField(fields, organisations);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (create.isPending || organisation === undefined) return;
    create.mutate({ body: { name: name.trim(), time_zone: zone, organisation } });
  };
  return (
    <Modal opened onClose={onClose} title="New project">
      <form onSubmit={submit}>
        <Stack gap="md">
          <TextInput
            data-autofocus
            required
            label="Name"
            description="Of the product whose users it is about"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={fields['name']}
            maxLength={200}
          />
          {organisations.length > 1 && (
            <Whose
              among={organisations}
              value={organisation}
              onChange={setOrganisation}
              error={fields['organisation']}
            />
          )}
          <Zone value={zone} onChange={setZone} error={fields['time_zone']} />
          {isElsewhere && create.error && <ErrorBox error={create.error} />}
          <DialogFoot onCancel={onClose}>
            <Button
              type="submit"
              loading={create.isPending}
              disabled={name.trim() === '' || organisation === undefined}
            >
              Create
            </Button>
          </DialogFoot>
        </Stack>
      </form>
    </Modal>
  );
}

/** Whether the form shows one of these errors at its field. The organization has a field only where it can be chosen. */
function hasField(errors: Record<string, string>, organisations: Organisation[]): boolean {
  const shown = ['name', 'time_zone', ...(organisations.length > 1 ? ['organisation'] : [])];
  return shown.some((field) => field in errors);
}

type Field<T> = { value: T; onChange: (value: string) => void; error: string | undefined };

function Whose({
  among,
  value,
  onChange,
  error,
}: Field<string | undefined> & { among: Organisation[] }): ReactNode {
  return (
    <Select
      required
      allowDeselect={false}
      label="Organisation"
      description="Whose members open it"
      data={among.map(({ id, name }) => ({ value: id, label: name }))}
      value={value ?? null}
      onChange={(next) => next !== null && onChange(next)}
      error={error}
    />
  );
}

function Zone({ value, onChange, error }: Field<string>): ReactNode {
  return (
    <Select
      searchable
      allowDeselect={false}
      label="Time zone"
      description="Times are shown in it, and quiet hours follow it where a user's own zone is not known"
      data={ZONES}
      value={value}
      onChange={(next) => next !== null && onChange(next)}
      error={error}
    />
  );
}
