// SPDX-License-Identifier: LGPL-2.1-or-later

// Handoff for applications in Vala: valac --pkg=gio-unix-2.0 --pkg=posix --vapidir=. --pkg=handoff -X -I. PROGRAM.vala handoff.c
// What each member does is in handoff.h.

[CCode (cheader_filename = "handoff.h", cprefix = "Handoff", lower_case_cprefix = "handoff_")]
namespace Handoff {
	[CCode (cname = "HANDOFF_BROWSING_WEB")]
	public const string BROWSING_WEB;

	[CCode (has_type_id = false, destroy_function = "", has_copy_function = false)]
	public struct Device {
		public unowned string id;
		public unowned string name;
	}

	[CCode (cname = "HandoffContinueFunc", has_target = true)]
	public delegate bool ContinueFunc (UserActivity activity, Device device) throws GLib.Error;
	[CCode (cname = "HandoffWillContinueFunc", has_target = true)]
	public delegate bool WillContinueFunc (string activity_type, Device device);
	[CCode (cname = "HandoffApplicationFailureFunc", has_target = true)]
	public delegate void ApplicationFailureFunc (string activity_type, string error_name, string message);
	[CCode (cname = "HandoffWillSaveFunc", has_target = true)]
	public delegate void WillSaveFunc (UserActivity activity, GLib.VariantDict user_info) throws GLib.Error;
	[CCode (cname = "HandoffWasContinuedFunc", has_target = true)]
	public delegate void WasContinuedFunc (UserActivity activity, Device device);
	[CCode (cname = "HandoffStreamFunc", has_target = true)]
	public delegate void StreamFunc (UserActivity activity, int stream);
	[CCode (cname = "HandoffFailureFunc", has_target = true)]
	public delegate void FailureFunc (UserActivity activity, string error_name, string message);
	[CCode (cname = "HandoffOpenedFunc", has_target = true)]
	public delegate void OpenedFunc (UserActivity activity, int stream, string? error_name, string? message);

	[CCode (type_id = "HANDOFF_TYPE_APPLICATION")]
	public class Application : GLib.Object {
		[CCode (has_construct_function = false)]
		public Application (string id, [CCode (array_length = false, array_null_terminated = true)] string[]? activity_types);
		public void declare (string option, GLib.Variant value);
		public void on_continue (owned ContinueFunc function);
		public void on_will_continue (owned WillContinueFunc function);
		public void on_failure (owned ApplicationFailureFunc function);
		public void start ();
		public void stop ();
		public bool is_available ();
		public unowned string? get_registration_error ();
	}

	[CCode (type_id = "HANDOFF_TYPE_USER_ACTIVITY")]
	public class UserActivity : GLib.Object {
		[CCode (has_construct_function = false)]
		public UserActivity (Application application, string activity_type, string? title = null);
		public void on_will_save (owned WillSaveFunc function);
		public void on_was_continued (owned WasContinuedFunc function);
		public void on_stream (owned StreamFunc function);
		public void on_failure (owned FailureFunc function);
		public void set (string name, GLib.Variant value);
		public unowned GLib.Variant? get (string name);
		public void set_title (string title);
		public unowned string get_title ();
		public void set_user_info (GLib.Variant user_info);
		public unowned GLib.Variant get_user_info ();
		public void add_user_info_entries (GLib.Variant entries);
		public void set_needs_save (bool needs_save);
		public bool get_needs_save ();
		public void become_current ();
		public void become_open ();
		public void leave_current ();
		public void resign_current ();
		public void invalidate ();
		public bool is_current ();
		public bool is_valid ();
		public unowned string get_activity_type ();
		public unowned string get_activation_token ();
		public void continuation_stream (owned OpenedFunc function);
	}
}
