package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// // NotifyReportsChanged sends reports/changed to the client. …
//
//	func NotifyReportsChanged(ctx context.Context, to server.Notifier, params *ReportsChangedParams) error {
//		return server.Notify(ctx, to, &reportsChangedNotification, params)
//	}
//
//	var reportsChangedNotification = server.CustomNotification[ReportsChangedParams]{Method: "reports/changed", Append: …, Decode: …}
func noticeFunc(pkg *model.Package, n *model.Notice) jen.Code {
	doc := n.GoName + " sends the notification " + n.Name + " to the client of a call, or of one of the server's Sessions."
	lines := []string{doc}
	if len(n.Doc) > 0 {
		lines = append(append(lines, ""), n.Doc...)
	}
	return jen.Add(comment(lines...)).Line().
		Func().Id(n.GoName).Params(jen.Id("ctx").Qual("context", "Context"), jen.Id("to").Qual(serverPath, "Notifier"), jen.Id("params").Op("*").Id(n.Params.Name)).Error().Block(
		jen.Return(jen.Qual(serverPath, "Notify").Call(jen.Id("ctx"), jen.Id("to"), jen.Op("&").Id(n.Var), jen.Id("params")))).Line().Line().
		Var().Id(n.Var).Op("=").Qual(serverPath, "CustomNotification").Types(jen.Id(n.Params.Name)).Add(onLines(
		field("Method", jen.Lit(n.Name)), field("Append", function(pkg, n.Params.Append)), field("Decode", decodeHiding(pkg, n.Hidden, n.Params.Decode))))
}

// // notices are the notifications of clients that h takes, sorted by name.
//
//	func notices(h Handlers) []server.NoticeHandler {
//		return []server.NoticeHandler{
//			server.BindNotice("notifications/reports/seen", h.ReportsSeen, decodeReportsSeenParams),
//		}
//	}
func noticeTable(pkg *model.Package) jen.Code {
	entries := make([]jen.Code, len(pkg.NoticesTaken))
	for i, n := range pkg.NoticesTaken {
		entries[i] = jen.Qual(serverPath, "BindNotice").Call(jen.Lit(n.Name), jen.Id("h").Dot(n.GoName), decodeHiding(pkg, n.Hidden, n.Params.Decode))
	}
	return jen.Add(comment("notices are the notifications of clients that h takes, sorted by name.")).Line().
		Func().Id("notices").Params(jen.Id("h").Id("Handlers")).Index().Qual(serverPath, "NoticeHandler").
		Block(jen.Return(jen.Index().Qual(serverPath, "NoticeHandler").Add(onLines(entries...))))
}
