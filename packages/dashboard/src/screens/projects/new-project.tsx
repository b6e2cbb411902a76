import { Button, Modal, Select, Stack, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, type SyntheticEvent, useState } from 'react';
import { useChange, useRefresh } from '../../api/index.ts';
import { DialogFoot, ErrorBox } from '../../parts/index.ts';

const BROWSER_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const ZONES = [...new Set(['UTC', BROWSER_ZONE, ...Intl.supportedValuesOf('timeZone')])];

/** A name is enough; the zone is that of the browser, unless another is chosen. */
export function NewProject({ onClose }: { onClose: () => void }): ReactNode {
  const navigate = useNavigate();
  const refresh = useRefresh();
  const [name, setName] = useState('');
  const [zone, setZone] = useState(BROWSER_ZONE);
  const create = useChange('POST /projects', {
    onDone: async ({ data }) => {
      // The frame of a project looks for it among those that were read.
      await refresh('GET /projects');
      await navigate({ to: '/p/$project/home', params: { project: String(data.id) } });
    },
  });
  const { fields = {} } = create.error ?? {};
  const isElsewhere = create.error !== null && Object.keys(fields).length === 0;
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (!create.isPending) create.mutate({ body: { name: name.trim(), time_zone: zone } });
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
          <Select
            searchable
            allowDeselect={false}
            label="Time zone"
            description="Times are shown in it, and quiet hours follow it where a user's own zone is not known"
            data={ZONES}
            value={zone}
            onChange={(next) => next !== null && setZone(next)}
            error={fields['time_zone']}
          />
          {isElsewhere && create.error && <ErrorBox error={create.error} />}
          <DialogFoot onCancel={onClose}>
            <Button type="submit" loading={create.isPending} disabled={name.trim() === ''}>
              Create
            </Button>
          </DialogFoot>
        </Stack>
      </form>
    </Modal>
  );
}
