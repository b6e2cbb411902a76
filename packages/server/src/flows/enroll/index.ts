export {
  enrollmentItems,
  type EnrollmentStep,
  nextEnrollmentStep,
  recordEnrollment,
  refreshCandidates,
} from './enroll-batch.ts';
export { type EnrollmentPreview, previewEnrollment } from './preview-enrollment.ts';
export { startEnrollment, startEnrollmentIn } from './start-enrollment.ts';
