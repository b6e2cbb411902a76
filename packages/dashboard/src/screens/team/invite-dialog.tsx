import { Button, Group, Modal, Radio, Stack, Text, TextInput } from '@mantine/core';
import { type CreatedInvite, type Role, ROLES } from '@beckon/contract/dashboard';
import { type ReactNode, useState } from 'react';
import { useChange, useProject, useSession } from '../../api/index.ts';
import { Command, ErrorBox, When } from '../../parts/index.ts';
import { ROLE_WORDS } from './roles.ts';
import { Form } from '../../parts/form.tsx';
import { SubmitButton } from '../../parts/submit-button.tsx';
import { textProps } from '../../parts/bind.ts';

type InviteDialogProps = { opened: boolean; onClose: () => void };

export function InviteDialog({ opened, onClose }: InviteDialogProps): ReactNode {
  return (
    <Modal opened={opened} onClose={onClose} title="Invite team member">
      <Inviting onClose={onClose} />
    </Modal>
  );
}

/** A component of its own, so that the link is removed when the dialog closes. */
function Inviting({ onClose }: { onClose: () => void }): ReactNode {
  const [made, setMade] = useState<CreatedInvite | null>(null);
  return made ? <Made invite={made} onClose={onClose} /> : <InviteForm onMade={setMade} />;
}

function InviteForm({ onMade }: { onMade: (made: CreatedInvite) => void }): ReactNode {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('reviewer');
  const isOwner = useProject().role === 'owner';
  const invite = useChange('POST /projects/:project/invites', {
    refreshes: ['GET /projects/:project/invites'],
    onDone: ({ data }) => onMade(data),
  });
  const submit = (): void => invite.mutate({ body: { email, role } });
  const fault = invite.error?.fields['email'];
  return (
    <Form onSubmit={submit}>
      <TextInput
        label="Email"
        type="email"
        required
        withAsterisk={false}
        data-autofocus
        {...textProps(email, setEmail)}
        error={fault}
      />
      <Radio.Group label="Role" value={role} onChange={(value) => setRole(value as Role)}>
        <Stack gap="xs" mt={4}>
          {ROLES.filter((role) => isOwner || role !== 'owner').map((role) => (
            <Radio key={role} value={role} label={role} description={ROLE_WORDS[role]} />
          ))}
        </Stack>
      </Radio.Group>
      {invite.error && fault === undefined && <ErrorBox error={invite.error} />}
      <Group justify="flex-end">
        <SubmitButton change={invite}>Invite</SubmitButton>
      </Group>
    </Form>
  );
}

function Made({ invite, onClose }: { invite: CreatedInvite; onClose: () => void }): ReactNode {
  const isTestInbox = useSession().data?.data.installation.test_inbox === true;
  return (
    <Stack gap="md">
      <Text size="sm" role="status">
        {sentWords(invite, isTestInbox)} It works once, until <When at={invite.expires_at} />, and is not
        shown again.
      </Text>
      <Command text={invite.link} what="link" />
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}

/** Without a relay, an email only reaches the test inbox, so its recipient does not get it. */
function sentWords({ email, emailed }: CreatedInvite, isTestInbox: boolean): string {
  if (emailed && !isTestInbox) return `An email with this link was sent to ${email}.`;
  const why = isTestInbox
    ? 'No relay is set, so the email is only in the test inbox'
    : 'No email could be sent';
  return `${why}. Give this link to ${email} yourself.`;
}
