import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { TemplateDetails } from '@beckon/contract/dashboard';
import { useChange, useProject } from '../../api/index.ts';
import { ConfirmTyped, notify } from '../../parts/index.ts';

type DeleteProps = { template: TemplateDetails; opened: boolean; onClose: () => void };

/** Deletes a template after its name was typed. */
export function DeleteDialog({ template, opened, onClose }: DeleteProps): ReactNode {
  const navigate = useNavigate();
  const { id } = useProject();
  const { name, is_shipped: isShipped, versions } = template;
  const remove = useChange('DELETE /projects/:project/templates/:template', {
    refreshes: ['GET /projects/:project/templates', 'GET /projects/:project/templates/:template'],
    onDone: () => {
      onClose();
      notify(isShipped ? `${name} reset to the built-in template` : `${name} deleted`);
      if (!isShipped) void navigate({ to: '/p/$project/templates', params: { project: String(id) } });
    },
  });
  return (
    <ConfirmTyped
      opened={opened}
      onClose={onClose}
      title={`Delete ${name}?`}
      name={name}
      action="Delete"
      run={() => remove.mutate({ params: { template: name } })}
      change={remove}
    >
      {versions.length === 1 ? 'Its version is' : `Its ${versions.length} versions are`} deleted too.
      {isShipped
        ? ' The built-in template replaces it, also in unedited drafts.'
        : ' A template that a rule uses cannot be deleted.'}
    </ConfirmTyped>
  );
}
