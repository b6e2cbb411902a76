import { Modal, Select, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useChange, useRefresh } from '../../api/index.ts';
import { DialogAction } from '../../parts/dialog-action.tsx';
import { Form } from '../../parts/form.tsx';
import { textProps, choiceProps } from '../../parts/bind.ts';

const BROWSER_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const ZONES = [...new Set(['UTC', BROWSER_ZONE, ...Intl.supportedValuesOf('timeZone')])];

type Organization = { id: string; name: string };
type NewProjectProps = { organizations: Organization[]; onClose: () => void };

/** Requires a name, and an organization if there are several. The time zone defaults to the browser's. */
export function NewProject({ organizations, onClose }: NewProjectProps): ReactNode {
  const navigate = useNavigate();
  const refresh = useRefresh();
  const [name, setName] = useState('');
  const [organization, setOrganization] = useState(
    organizations.length === 1 ? organizations[0]?.id : undefined,
  );
  const [zone, setZone] = useState(BROWSER_ZONE);
  const create = useChange('POST /projects', {
    onDone: async ({ data }) => {
      // The project frame looks for the new project in the loaded list.
      await refresh('GET /projects');
      await navigate({ to: '/p/$project/home', params: { project: String(data.id) } });
    },
  });
  const { fields = {} } = create.error ?? {};
  const submit = (): void => {
    if (create.isPending || organization === undefined) return;
    create.mutate({ body: { name: name.trim(), time_zone: zone, organization } });
  };
  return (
    <Modal opened onClose={onClose} title="New project">
      <Form onSubmit={submit}>
        <TextInput
          data-autofocus
          required
          label="Name"
          description="The name of your product"
          {...textProps(name, setName)}
          error={fields['name']}
          maxLength={200}
        />
        {organizations.length > 1 && (
          <OrganizationField
            among={organizations}
            value={organization}
            onChange={setOrganization}
            error={fields['organization']}
          />
        )}
        <Zone value={zone} onChange={setZone} error={fields['time_zone']} />
        <DialogAction
          change={create}
          fields={fieldNames(organizations)}
          onCancel={onClose}
          disabled={name.trim() === '' || organization === undefined}
        >
          Create project
        </DialogAction>
      </Form>
    </Modal>
  );
}

/** The fields that show their own errors. The organization has a field only if there are several. */
function fieldNames(organizations: Organization[]): string[] {
  return ['name', 'time_zone', ...(organizations.length > 1 ? ['organization'] : [])];
}

type Field<T> = { value: T; onChange: (value: string) => void; error: string | undefined };

function OrganizationField({
  among,
  value,
  onChange,
  error,
}: Field<string | undefined> & { among: Organization[] }): ReactNode {
  return (
    <Select
      required
      allowDeselect={false}
      label="Organization"
      description="Its members get access to the project"
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
      label="Time zone"
      description="For times in the dashboard, and for quiet hours of users without a time zone"
      data={ZONES}
      {...choiceProps(value, onChange)}
      error={error}
    />
  );
}
