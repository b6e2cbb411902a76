import { Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { RuleDetails } from '@beckon/contract/dashboard';
import { useApi, useChange } from '../../api/index.ts';
import { DialogFoot, ErrorBox, Lines, Loaded, notify } from '../../parts/index.ts';
import { EnrollmentPreview } from './enrollment-preview.tsx';
import { canStart, enrollLabel } from './enrollment-words.ts';
import { ActButton } from '../../parts/act-button.tsx';

type Props = { rule: Pick<RuleDetails, 'id' | 'name'>; opened: boolean; onClose: () => void };

/** Enrolls the users who are in the audiences of an enabled rule, after a preview. */
export function EnrollDialog({ rule, opened, onClose }: Props): ReactNode {
  return (
    <Modal opened={opened} onClose={onClose} title={`Enroll members in ${rule.name}?`}>
      <EnrollForm rule={rule} onClose={onClose} />
    </Modal>
  );
}

function EnrollForm({ rule, onClose }: Omit<Props, 'opened'>): ReactNode {
  const params = { rule: rule.id };
  const preview = useApi('GET /projects/:project/rules/:rule/enrollment', { params }, { staleTimeMs: 0 });
  const start = useChange('POST /projects/:project/rules/:rule/enrollment', {
    refreshes: ['GET /projects/:project/rules/:rule', 'GET /projects/:project/rules/:rule/enrollment'],
    onDone: () => {
      notify('Enrollment started');
      onClose();
    },
  });
  const found = preview.data?.data;
  return (
    <Stack gap="md">
      <Text size="sm">
        The rule starts when users enter an audience. Users who are in it already are enrolled by this. Each
        user is enrolled once, and all send checks apply.
      </Text>
      <Loaded query={preview} skeleton={<Lines count={3} />}>
        {({ data }) => <EnrollmentPreview preview={data} />}
      </Loaded>
      {start.error && <ErrorBox error={start.error} title="Enrollment not started" />}
      <DialogFoot onCancel={onClose} focusesCancel>
        <ActButton
          change={start}
          variant="filled"
          disabled={!found || !canStart(found)}
          onClick={() => start.mutate({ params })}
        >
          {found ? enrollLabel(found) : 'Enroll members'}
        </ActButton>
      </DialogFoot>
    </Stack>
  );
}
